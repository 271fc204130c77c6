"""Drafts a declaration from result files: what they show, what the catalogue knows, and TODO elsewhere."""
