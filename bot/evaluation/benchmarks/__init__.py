"""What is known of benchmarks and harnesses: the catalogue, the families of MMLU, and releases."""
