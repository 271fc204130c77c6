"""The service: settings, state, and the work that keeps every watch in step."""
