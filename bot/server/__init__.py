"""The web application: webhooks, health, metrics, the API, and the pages of boards and operator."""
