"""Checks that only read: the doctor of a set-up."""
