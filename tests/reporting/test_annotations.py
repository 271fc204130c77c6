"""Findings become GitHub's workflow commands: escaped as the toolkit does, and never more than GitHub keeps."""

from __future__ import annotations

import pytest

from bot.evaluation.finding import Finding, Location, Severity
from bot.reporting.annotations import annotate, annotation, escape_data, escape_property


def finding(severity: Severity = Severity.ERROR, message: str = "a message", **more: object) -> Finding:
    place = Location("a.json", "/results", 3)
    return Finding("missing-task", severity, message, **({"hint": "", "location": place} | more))


@pytest.mark.parametrize(
    ("text", "data", "prop"),
    [
        ("100%", "100%25", "100%25"),
        ("a\nb", "a%0Ab", "a%0Ab"),
        ("a\n::stop-commands::b", "a%0A\\::stop-commands::b", "a%0A\\%3A%3Astop-commands%3A%3Ab"),
        ("a ##[add-mask]b \x1b[2J", "a #\\#[add-mask]b \\x1b[2J", "a #\\#[add-mask]b \\x1b[2J"),
        ("a:b,c", "a:b,c", "a%3Ab%2Cc"),
        ("%0A", "%250A", "%250A"),
    ],
)
def test_texts_are_escaped_as_the_toolkit_does(text: str, data: str, prop: str) -> None:
    assert (escape_data(text), escape_property(text)) == (data, prop)


def test_a_finding_names_file_line_and_rule() -> None:
    line = annotation(finding(hint="run it again:", command="lm_eval --tasks a"))

    assert line == "::error title=missing-task,file=a.json,line=3::a message%0Arun it again:%0Alm_eval --tasks a"


def test_a_hostile_path_or_message_stays_one_command() -> None:
    place = Location("a,line=9::x\n::error::b.json", "", 0)

    line = annotation(finding(message="x\n::set-output name=a::b\r", location=place))

    assert line == (
        r"::error title=missing-task,file=a%2Cline=9%3A%3Ax%0A\%3A%3Aerror%3A%3Ab.json::x\n::set-output name=a::b\r"
    )


def test_past_the_limit_the_last_annotation_counts_the_rest() -> None:
    found = [finding(message=f"error {index}") for index in range(25)]
    found += [finding(Severity.NOTICE, f"notice {index}") for index in range(10)]

    lines = list(annotate(found))

    assert [line.partition(" ")[0].partition("::e")[2] for line in lines[:9]] == ["rror"] * 9
    assert lines[9] == "::error::16 more of these: the step summary has them all"
    assert [line.startswith("::notice ") for line in lines[10:]] == [True] * 10


def test_errors_come_before_warnings_and_notices() -> None:
    lines = annotate([finding(Severity.NOTICE), finding(Severity.WARNING), finding(Severity.ERROR)])

    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "::notice"]
