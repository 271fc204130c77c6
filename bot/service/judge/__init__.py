"""The verdict: submissions are read, facts are gathered, and the rules judge, again where a declaration changes."""
