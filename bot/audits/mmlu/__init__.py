"""MMLU: prompts, results and sample logs in; which implementation, what it scores, what may be compared, out."""
