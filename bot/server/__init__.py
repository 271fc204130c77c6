"""The web application: webhooks, health, metrics, and the pages that show how the watches stand."""
