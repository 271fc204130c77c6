"""Read the sample logs of harnesses: one stream of samples, whatever wrote the log."""
