"""Results on the pages of the evaluated models themselves: `.eval_results` files."""
