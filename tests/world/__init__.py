"""A Hub on loopback: what the real client asks goes in, what the real service would answer comes out."""
