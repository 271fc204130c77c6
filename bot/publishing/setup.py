"""The request that sets a board up in the repository of its table: its workflow, and the text that proposes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot import HOME
from bot.publishing.publication import Marker, PostText
from bot.publishing.texts import fitted
from bot.publishing.verdict_texts import preformatted
from bot.reporting.escape import code

WORKFLOW = ".github/workflows/leaderboard.yml"
EVENTS = """\
name: leaderboard
on:
{checked}  push:
  schedule:
    - cron: "17 4 * * *"
  workflow_dispatch:
permissions: {{}}
jobs:
"""
# The base's declaration counts: a submitter must not choose the rules.
CHECK = """\
  check:
    if: github.event_name == 'pull_request'
    runs-on: ubuntu-latest
    permissions: {{ contents: read, pull-requests: write }} # the comment
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with: {{ ref: "${{{{ github.event.pull_request.base.sha }}}}", persist-credentials: false }}
      - uses: leaderboard-bot/leaderboard-bot@v1
        with: {{ leaderboard: {folder}/board.toml }}
"""
SETTLE = """\
  settle:
    if: github.event_name != 'pull_request' && github.ref_name == github.event.repository.default_branch
    runs-on: ubuntu-latest
    permissions: {{ contents: write, pull-requests: write, issues: write }}
    concurrency: {{ group: leaderboard, cancel-in-progress: false }}
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with: {{ persist-credentials: false }}
      - uses: astral-sh/setup-uv@c771a70e6277c0a99b617c7a806ffedaca235ff9 # v9.0.0
        with: {{ enable-cache: false }}
      - run: uvx --from 'leaderboard-bot[server]' leaderboard-bot settle --config {folder}/bot.toml
        env:
          GITHUB_TOKEN: ${{{{ github.token }}}}
{secrets}"""
OF_HUB = "          HF_TOKEN: ${{ secrets.HF_TOKEN }} # needed only for a private dataset\n"


def setup_mark(folder: str) -> Marker:
    """The mark of the request for the set-up in a folder of a repository."""
    return Marker("setup", f"setup/{folder}")


def setup_workflow(folder: str, source: str, target: str) -> str:
    """The workflow that keeps the table in step with its source, and checks what is proposed where both are one."""
    is_one = source.casefold() == target.casefold()  # GitHub knows a repository in any capitals
    parts = [EVENTS.format(checked="  pull_request:\n" if is_one else ""), CHECK if is_one else "", SETTLE]
    secrets = OF_HUB if source.startswith("hf://") else ""
    return parts[0] + "".join(parts[1:]).format(folder=folder, secrets=secrets)


def setup_text(mark: Marker, table: str, source: str, said: Sequence[str], decisions: Mapping[str, str]) -> PostText:
    """The text of the request: what merging does, what was computed, and what is left to decide in each file."""
    merging = (
        f"**Merge** this and [leaderboard-bot]({HOME}) keeps the table of {code(table)} in step with {code(source)}: "
        "each change is a pull request of the rows that differ, with the evidence of every number, and nothing else of "
        "the file changes. **Close** it to decline: the same is not proposed again."
    )
    setting = (
        "The workflow opens pull requests: switch on *Allow GitHub Actions to create and approve pull requests* in the "
        "settings of the repository, under Actions."
    )
    body = [
        merging,
        "",
        "What it computed from the results:",
        "",
        preformatted("\n".join(said)),
        "",
        "| file | left to decide |",
        "| --- | --- |",
        *(f"| {code(path)} | {left} |" for path, left in decisions.items()),
        "",
        setting,
    ]
    return fitted(f"Keep {table} in step with its results", "\n".join(body), mark)
