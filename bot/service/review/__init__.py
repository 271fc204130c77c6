"""Reviews of the requests that people open at a source."""
