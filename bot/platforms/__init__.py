"""Forges: what the outside holds comes in, what we publish goes out; only this package writes."""
