"""Show findings, scores and audits to a person or to another program."""
