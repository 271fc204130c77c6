"""The command line: one file for each group of commands, each loaded when it is called."""
