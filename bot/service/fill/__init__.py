"""Filling a new board with all results of a source: the import."""
