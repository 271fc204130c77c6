"""The Hugging Face Hub as a platform: sources, targets, requests, discussions and webhooks."""

from bot.errors import CallError

try:
    import huggingface_hub.utils._http  # noqa: F401 - it reads the environment once, when it is imported
except ValueError as error:
    raise CallError(f"a variable HF_… has a value that the Hub's client cannot use: {error}") from None
