"""The file measures a model of an organization that submits elsewhere.

## What it does
Compares the path with the `owners` of the watch.

## Why is this bad?
Otherwise every submitter could replace the rows of others.

## When it is wrong
It submits here, too: add it to `owners`.

## Example
(owners) acme/ belongs to example-org

## A sound run writes
(owners) results_ belongs to example-org
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.evaluation.finding import Severity, examples, shown
from bot.evaluation.rules.rule import Case, Violation, Violations, rule

Owners = Mapping[str, Sequence[str]]
HINT = "submit it where the organization submits, or ask the maintainers of the leaderboard to change `owners`"


@rule(Severity.ERROR, invalidates_score=False, given="owners")
def wrong_owner(case: Case) -> Violations:
    """Yield a violation where the path and the model's organization do not belong together."""
    organization, pointer = case.result.model.id.partition("/")[0], case.result.pointer_to("model")
    found = deciding_owners(case.path, organization, case.facts.owners)
    here = next((prefix for prefix in found if case.path.startswith(prefix)), None)
    if here is not None:
        allowed = examples(list(found[here])) or "no organization"
        why = f"{shown(here)} is only for results of models of {allowed}, and this model is of {shown(organization)}"
        yield Violation(why, HINT, pointer)
    elif found:
        why = f"results of models of {shown(organization)} belong below {examples(list(found))}"
        yield Violation(why, HINT, pointer)


def deciding_owners(path: str, organization: str, owners: Owners) -> dict[str, tuple[str, ...]]:
    """The owners, by prefix, that keep an organization's results from a path; empty if they may lie there."""
    here = max((prefix for prefix in owners if path.startswith(prefix)), key=len, default=None)
    if here is not None:
        return {} if _is_among(organization, owners[here]) else {here: tuple(owners[here])}
    elsewhere = [prefix for prefix, allowed in owners.items() if _is_among(organization, allowed)]
    return dict.fromkeys(elsewhere, (organization,))


def _is_among(organization: str, allowed: Sequence[str]) -> bool:
    return organization.casefold() in {name.casefold() for name in allowed}
