"""Investigations of a benchmark: sample logs, boards and result folders in, a verdict on what they measure out."""
