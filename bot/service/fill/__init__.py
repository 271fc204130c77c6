"""The import: fill a new board with all results of a source."""
