"""Checks that only read: the doctor of a set-up, and the rows of a target recomputed from their evidence."""
