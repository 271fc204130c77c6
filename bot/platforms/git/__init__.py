"""Local git repositories as sources and targets."""
