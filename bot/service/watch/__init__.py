"""One pass over a watch: an event hints at it, `observe` finds what changed, and `settle` does what is due."""
