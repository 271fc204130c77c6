"""Finds out which MMLU was measured: by prompts, results and sample logs; what it scores, and what may be compared."""
