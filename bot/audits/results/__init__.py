"""Find inconsistencies in result files and in the samples beside them."""
