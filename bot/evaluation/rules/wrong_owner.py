"""The file measures a model of an organization that submits elsewhere.

## What it does
Compares the file's path with the `owners` of the watch: a prefix is only for results of models of its
organizations, and models of these organizations count only there. The longest prefix that fits decides. Names are
compared without case.

## Why is this bad?
Otherwise everybody who may write to the repository could replace the row of somebody else's model.

## Example
(owners) acme/ belongs to example-org

## Use instead
(owners) results_ belongs to example-org
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.evaluation.finding import Severity, examples, shown
from bot.evaluation.rules.rule import Case, Violation, rule

HINT = "submit it where the organization submits, or ask the maintainers of the leaderboard to change `owners`"


@rule(Severity.ERROR, invalidates_score=False, reads="file")
def wrong_owner(case: Case) -> Iterator[Violation]:
    """Yield a violation where the path and the model's organization do not belong together."""
    if not case.facts.owners:
        return
    owners, path, organization = case.facts.owners, case.path, case.result.model.id.partition("/")[0]
    here = max((prefix for prefix in owners if path.startswith(prefix)), key=len, default=None)
    elsewhere = [prefix for prefix, allowed in owners.items() if _is_among(organization, allowed)]
    pointer = case.result.pointer_to("model")
    if here is not None and not _is_among(organization, owners[here]):
        allowed = examples(list(owners[here])) or "no organization"
        why = f"{shown(here)} is only for results of models of {allowed}, and this model is of {shown(organization)}"
        yield Violation(why, HINT, pointer)
    elif here is None and elsewhere:
        why = f"results of models of {shown(organization)} belong below {examples(elsewhere)}"
        yield Violation(why, HINT, pointer)


def _is_among(organization: str, allowed: Sequence[str]) -> bool:
    return organization.casefold() in {name.casefold() for name in allowed}
