"""GitHub as a platform: sources with pull requests, targets and issues."""
