"""Review the requests that people open at a source: one comment shows the verdicts and the effect of a merge."""
