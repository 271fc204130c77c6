"""Where people see what the bot names: the pages of repositories, files, commits, requests and models."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from bot.evaluation.finding import file_of
from bot.evaluation.formats.sameness import is_path
from bot.evaluation.identity import is_hub_id

if TYPE_CHECKING:
    from bot.publishing.entry import Entry, Evidence

HUB = "https://huggingface.co"  # where people read the Hub, unless a caller names another one
GITHUB = "https://github.com"
GITHUB_API = re.compile(r"(https?://)(?:api\.([^/]+)|(.+)/api/v3)")
HOSTS = {
    "hf://datasets/": "{hub}/datasets/{name}",
    "github://": f"{GITHUB}/{{name}}",
}


def link_to_github_of(api: str) -> None:
    """Let all links of this process lead to the pages of the GitHub of this API, such as one of GitHub Enterprise."""
    web = GITHUB_API.sub(r"\1\2\3", api) if GITHUB_API.fullmatch(api) else GITHUB
    HOSTS["github://"] = f"{web}/{{name}}"


def evidence_url(file: Evidence, hub: str = HUB, target: str = "") -> str:
    """The web page of a file at its commit, or as `target` keeps it; "" if there is none."""
    if file.kept and target:
        from bot.publishing.entry import kept_path

        return target_url(target, kept_path(next(iter(file.kept.values()))), hub)
    repository = target_url(file.source, hub=hub) if file.commit else ""
    if not repository or {".", ".."}.intersection(f"{file.source}/{file.commit}/{file.path}".split("/")):
        return ""  # a browser would walk up from dots to another page of the host
    return f"{repository}/blob/{quote(file.commit)}/{quote(file_of(file.path))}"


def evidence_link(entry: Entry) -> str:
    """The web page of the first result file of a row at its commit, "" if there is none."""
    return evidence_url(entry.evidence[0]) if entry.evidence else ""


def target_url(address: str, path: str = "", hub: str = HUB) -> str:
    """The web page of a target's repository, or of a file on its main branch; "" if it has no pages."""
    for scheme, repository in HOSTS.items():
        if address.startswith(scheme):
            name = quote(address.removeprefix(scheme).partition("#")[0].rstrip("/"))
            branch = "main" if scheme.startswith("hf") else "HEAD"
            return repository.format(hub=hub, name=name) + (f"/blob/{branch}/{quote(path)}" if path else "")
    return ""


def commit_url(address: str, commit: str, hub: str = HUB) -> str:
    """The web page of a repository at a commit; "" if it has no pages."""
    repository = target_url(address, hub=hub)
    return f"{repository}/tree/{quote(commit)}" if repository and commit else ""


def request_url(address: str, number: str, hub: str = HUB) -> str:
    """The web page of a request or discussion of a repository; "" if it has no pages."""
    repository = target_url(address, hub=hub)
    kind = "discussions" if address.startswith("hf://") else "pull"
    return f"{repository}/{kind}/{quote(number)}" if repository and number.isdigit() else ""


def requests_url(address: str, hub: str = HUB) -> str:
    """The web page with all requests of a repository; "" if it has no pages."""
    repository = target_url(address, hub=hub)
    return f"{repository}/{'discussions' if address.startswith('hf://') else 'pulls'}" if repository else ""


def model_url(model: str) -> str:
    """The page of a model on the Hub, "" where its name is no id with an organization."""
    return f"{HUB}/{quote(model)}" if "/" in model and is_hub_id(model) and not is_path(model) else ""
