"""Draft a declaration from result files and the catalogue, with a TODO where neither knows the answer."""
