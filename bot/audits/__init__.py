"""Investigate a benchmark, a board, or result files: what they measure, and where their numbers come from."""
