"""Write the pages that are made from the code and its data: docs/rules.md and docs/catalogue.md.

`python docs/generate.py` writes them again; a test fails where one is stale. A rule's heading is its id, so that the
link of a finding, docs/rules.md#<id>, leads to it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent))

from bot.evaluation.benchmarks.catalogue import Group, Known, catalogue, members_of  # noqa: E402 - the folder above
from bot.evaluation.finding import Severity  # noqa: E402 - the same
from bot.evaluation.rules import ALL_RULES  # noqa: E402 - the same
from bot.evaluation.rules.rule import Rule  # noqa: E402 - the same

INTRODUCTION = """\
# Rules

<!-- Made by docs/generate.py from the docstrings in bot/evaluation/rules/: change those, and run it again. -->

A rule judges a result file, or the row that files make, against one leaderboard. It is an **error** unless its text
begins with another word, and keeps the row from being published; only `missing-task` leaves it published without
average and rank. A **warning** is published with the row. A **notice** is for whoever ran the evaluation.
`leaderboard-bot rules ID` adds an example, and what sound runs write.

**Wrong?** says when a rule is wrong, and what to answer. Where the answer is a change of the declaration, ask the
board's maintainers. For one upload they can waive an error, with a reason and a last day, by
[`/ignore`](hub.md#requests-opened-at-the-source) or a [waiver](leaderboards.md#waivers). Never edit a result file.
"""

CATALOGUE = """\
# The catalogue

<!-- Made by docs/generate.py from bot/data/catalogue/: change that, and run it again. -->

`init` and `leaderboards draft` take metrics, bounds and samples from here, and [a declaration](leaderboards.md#tasks)
can name a group instead of its members (`members = "mmlu"`). *Guessing* is the value of a model that only guesses.
Behind each name stands its number of samples, behind a group's also that of its members. `bot/data/catalogue/` has
the members, the datasets, and where each fact is from; tests compare it with lm-evaluation-harness 0.4.13.
"""


def rules_page() -> str:
    """The page of all rules: one section for each, in the order of reports."""
    return "\n".join([INTRODUCTION, *(line for rule in ALL_RULES for line in _section(rule))])


def _section(rule: Rule) -> Iterator[str]:
    texts = dict(rule.sections)
    severity = "" if rule.severity is Severity.ERROR else f"*{rule.severity.capitalize()}.* "
    yield from (f"## {rule.id}", "", f"{severity}**{rule.title}** {texts['What it does']}", "")
    yield from (texts["Why is this bad?"], "")
    yield from (f"**Wrong?** {texts['When it is wrong']}", "")


def catalogue_page() -> str:
    """The page of the catalogue: its benchmarks, and its groups."""
    files = catalogue().files.values()
    benchmarks = [(_how(one, one.guessing), f"`{one.id}` {one.samples:,}") for file in files for one in file.benchmarks]
    groups = [_group(one) for file in files for one in file.groups]
    return "\n".join([CATALOGUE, *_table("benchmarks", benchmarks), *_table("groups", groups)])


def _table(of: str, named: list[tuple[str, str]]) -> list[str]:
    """A line for each way of scoring, with all that is scored so."""
    ways: dict[str, list[str]] = {}
    for how, name in sorted(set(named)):
        ways.setdefault(how, []).append(name)
    lines = [f"| {how} | {', '.join(names)} |" for how, names in ways.items()]
    head = [f"| metric | guessing | shots | {of} |", "| --- | --- | --- | --- |"]
    return [f"## {of.capitalize()}", "", *head, *lines, ""]


def _group(group: Group) -> tuple[str, str]:
    members = members_of(group).values()
    guesses = {(one if one.choices or one.guess is not None else group).guessing for one in members}
    guess = f"{min(guesses)} to {max(guesses)}" if len(guesses) > 1 else str(*guesses)
    return _how(group, guess), f"`{group.id}` {sum(one.samples for one in members):,} in {len(members)}"


def _how(known: Known, guess: object) -> str:
    metrics = ", ".join(f"`{one.name}`" + f" ({one.filter})" * (one.filter != "none") for one in known.metrics)
    shares = "" if all(one.integral for one in known.metrics) else ", not a mean of zeros and ones"
    return f"{metrics}{shares} | {guess} | {known.num_fewshot}"


PAGES = {"rules.md": rules_page, "catalogue.md": catalogue_page}


def main() -> None:
    """Write the pages."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
