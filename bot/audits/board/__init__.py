"""The audit of a board: columns that stopped measuring what the other columns measure."""
