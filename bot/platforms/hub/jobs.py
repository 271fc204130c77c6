"""Jobs on the Hub: a run that a person starts on hardware there."""

from __future__ import annotations

from collections.abc import Sequence

from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError

from bot.errors import Refused
from bot.platforms.platform import Access


def start_job(access: Access, flavor: str, image: str, command: Sequence[str]) -> str:
    """Start a job with the token as its secret; returns its address. Raises Refused where the Hub does not start it."""
    api = HfApi(endpoint=access.hf_endpoint, token=access.hf_token or False)
    try:
        secrets = {"HF_TOKEN": access.hf_token} if access.hf_token else {}
        job = api.run_job(image=image, command=list(command), flavor=flavor, secrets=secrets)
    except HfHubHTTPError as error:
        raise Refused(access.hf_endpoint, f"it starts no job: {error}") from None
    return str(job.url)
