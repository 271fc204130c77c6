"""The Hugging Face Hub as a platform: sources, targets, requests, discussions and webhooks."""
