"""GitHub: result files of pull requests come in, harness commits are looked up, publications go out."""
