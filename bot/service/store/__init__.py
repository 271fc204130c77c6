"""The state between two passes. If it is lost, the service rebuilds it by reading everything again."""
