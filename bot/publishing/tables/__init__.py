"""Rows of a table that somebody else keeps: one row is edited in place, the bytes of all others stay."""
