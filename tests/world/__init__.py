"""A Hub on loopback that answers the real client as the real service would."""
