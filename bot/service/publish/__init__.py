"""Publish rows: one publisher for every kind of target, the board that follows from them, and its web site."""
