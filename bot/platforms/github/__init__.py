"""GitHub as a platform: sources with pull requests, targets, and the lookup of harness commits."""
