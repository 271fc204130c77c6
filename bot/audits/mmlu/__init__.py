"""Find which MMLU was measured, from prompts, results and sample logs, and which numbers may be compared."""
