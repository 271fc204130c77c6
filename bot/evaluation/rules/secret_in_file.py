"""The file holds a password or a token.

## What it does
Looks for fields such as `api_key`, tokens of services, and passwords in addresses. Never repeats the value.

## Why is this bad?
Every reader of the results can use the account.

## When it is wrong
The value is a placeholder: ask for a waiver. Otherwise revoke the token first.

## Example
/config/model_args: "base_url=https://example.org/v1,model=example-org/kestrel-7b,api_key=abcdefgh12345678"

## A sound run writes
/config/model_args: "base_url=https://example.org/v1,model=example-org/kestrel-7b"
"""

from __future__ import annotations

from bot.evaluation.finding import Severity
from bot.evaluation.rules.rule import Case, Violation, Violations, rule


@rule(Severity.ERROR, invalidates_score=False, looks_at="secrets")
def secret_in_file(case: Case) -> Violations:
    """Yield one violation that points to the first credential."""
    secrets = case.result.secrets
    if secrets:
        count = "a password or token" if len(secrets) == 1 else f"{len(secrets)} passwords or tokens"
        yield Violation(
            f"the file holds {count}",
            "revoke it now, whoever could read the file has it; then remove it from the file and from the repository's"
            " history, and upload the file again",
            secrets[0],
        )
