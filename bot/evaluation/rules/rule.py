"""The parts of a rule: the case it judges, the violations it yields, its registration, and waivers of its findings."""

from __future__ import annotations

import inspect
import json
import logging
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from bot import HOME
from bot.evaluation.benchmarks.catalogue import PLACE, Group, catalogue, members_of
from bot.evaluation.definition import OF_RELEASES
from bot.evaluation.finding import Finding, Location, Severity, Waived, examples, grouped, shown
from bot.evaluation.formats import find_format
from bot.evaluation.formats.fields import REVISION
from bot.evaluation.formats.format import Format, Rerun, calls, hides_log_likelihoods, loads_path, runs_own_code
from bot.evaluation.identity import why_unidentified
from bot.evaluation.leaderboard import Leaderboard, Waiver, shipped
from bot.evaluation.likeness import Alike
from bot.evaluation.measurement import (
    Measurement,
    Measurements,
    accepted_gen_kwargs,
    needs_log_likelihoods,
    required_metrics,
)
from bot.evaluation.result import CheckedSamples, Model, Result
from bot.evaluation.row_key import RowKey
from bot.evaluation.rules.advised_version import Advised, advised_version
from bot.evaluation.submission import LATEST, Parsed
from bot.evaluation.verdict import CommitFact, Row, Verdict

OnLeaderboard = Callable[[Leaderboard], Severity | None]
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
# An example is lines such as `/results/…: 1`, `(file) …`, or `leaderboard: …`; a remedy may be a sentence.
DATA = re.compile(r"[/(]|leaderboard: ")
NO_LOG_LIKELIHOODS = (
    ", with the model loaded locally or behind a completions endpoint (local-completions) that echoes prompts with "
    "their logprobs: this board compares log-likelihoods in {} (multiple_choice), and this service does not give them"
)
NOT_TAKEN = "; there is no command: its tool writes files of format {}, which {} does not take"
NOT_RECORDED = "; there is no command: the file does not record all that its call needs"
NO_PATH = (
    ", with the model on the Hub in place of its path: upload it first; `check` with "
    "`--model-name {}=ORGANIZATION/NAME@COMMIT` gives the command"
)
NO_CODE = "; if the model needs its own code, add trust_remote_code=True"
REPORT = f"report it at {HOME}/issues, with the files"
log = logging.getLogger(__name__)


class KnownDocuments(NamedTuple):
    """The documents of a leaf in most rows of a board: a digest of them with their targets, and how many samples.

    `prompts` is the digest of what most rows without a chat template asked, `scoring` of how most are scored; "" where
    none is that of most.
    """

    digest: str
    samples: int
    prompts: str = ""
    scoring: str = ""


class Facts(msgspec.Struct, frozen=True, gc=False):
    """Facts from outside the results. The caller looks them up before: no rule looks anything up.

    `today` decides whether a waiver still holds (None: none does), and which dates lie in the future. `commits` answers
    for a `git_hash` as the file spells it; one that is absent was not looked up. `same_values` names, by the key
    of a row, another model with all of its values. `waivers` are further ones. `committed` has, by
    path, the date in Unix seconds of the commit that brought a file. `owners` has, by the prefix of a path, the
    organizations whose models are submitted there and nowhere else. `names` has the Hub ids of models by what files
    call them, see `with_names`. `spellings` has, by the key of a row that reads like an earlier one, the key of that
    one, see `twins`. `documents` has, by leaf and format, the documents in the sample logs of most rows on the board,
    and `logs`, by the SHA-256 of a sample log, the model that it was first submitted for. `alike` has, by the key of a
    row, another model with nearly its values or answers. `unmatched` has, by the path of the first file of a form, the
    places that lead to a number in no file of it.
    """

    today: date | None = None
    commits: Mapping[str, CommitFact] = {}
    same_values: Mapping[str, str] = {}
    waivers: tuple[Waiver, ...] = ()
    committed: Mapping[str, float] = {}
    owners: Mapping[str, tuple[str, ...]] = {}
    names: Mapping[str, str] = {}
    spellings: Mapping[str, str] = {}
    documents: Mapping[tuple[str, str], KnownDocuments] = {}
    logs: Mapping[str, str] = {}
    alike: Mapping[str, Alike] = {}
    unmatched: Mapping[str, Sequence[str]] = {}


NO_FACTS = Facts()


class Case(msgspec.Struct, frozen=True, gc=False):
    """One result held against one leaderboard.

    `dated` is when it was measured as its file or the file's name says, None if neither does, `latest` after what it
    cannot have been; both in Unix seconds. `path` is where the submission lies.
    `samples` is what the sample logs beside it show, None where nobody looked.
    """

    result: Result
    leaderboard: Leaderboard
    measurements: Measurements
    facts: Facts = NO_FACTS
    dated: float | None = None
    latest: float = LATEST
    path: str = ""
    samples: tuple[CheckedSamples, ...] | None = None

    @property
    def takes_format(self) -> bool:
        """Whether the leaderboard takes the result's format; where it does not, only `unaccepted-format` says so."""
        return self.result.format in self.leaderboard.harness.formats

    def at(
        self, found: Sequence[Measurement], message: str, hint: str, field: str = "value", command: str = ""
    ) -> Violation:
        """A violation that measurements show: it points to a field of the first, and is about their subtasks.

        `field` is one of `Result.pointer_to`, or "stderr"; the violation has a task where they are all of one.
        """
        first, tasks = found[0].required, {one.required.task.id for one in found}
        field, value_key = ("value", first.stderr_key) if field == "stderr" else (field, first.value_key)
        pointer = self.result.pointer_to(field, first.leaf_key, value_key)
        return Violation(message, hint, pointer, first.task.id if len(tasks) == 1 else "", leaves_of(found), command)

    def again(
        self, found: Sequence[Measurement], message: str, what: str, field: str = "value", *, newest: bool = False
    ) -> Violation:
        """The same, with the advice to measure the subtasks of one task again; `what` says what to do."""
        task = found[0].required.task
        hint, command = rerun_advice(self, [(keys_of(found), task.num_fewshot)], what, newest=newest)
        return self.at(found, message, hint, field, command)


class RowCase(msgspec.Struct, frozen=True, gc=False):
    """One row, joined and scored, with the other submissions of its key.

    `others` has the leaves of the other rows that may be of the same model at the same revision. `formats` has, on a
    board of several formats, those of the results at hand that measured a leaf. `verdicts` are those on all submissions
    of its key.
    """

    row: Row
    leaderboard: Leaderboard
    facts: Facts = NO_FACTS
    others: Mapping[RowKey, frozenset[str]] = {}
    formats: Mapping[str, frozenset[str]] = {}
    verdicts: tuple[Verdict, ...] = ()

    @property
    def result(self) -> Result:
        """The result of the row's lead."""
        return self.row.result


class Violation(msgspec.Struct, frozen=True, gc=False):
    """What a rule found: one sentence with the value, what to do, and where (`Result.pointer_to`).

    `task` is the column it is about ("" for the whole submission), `leaves` the ids of its subtasks, empty for all;
    `command` is the command line that repairs it, "" if none can. `file` is the path of the submission that a violation
    of a row points into, "" for the first of the row. `severity` is given where it is another than the rule's.
    """

    message: str
    hint: str = ""
    pointer: str = ""
    task: str = ""
    leaves: tuple[str, ...] = ()
    command: str = ""
    file: str = ""
    line: int = 0
    severity: Severity | None = None


Violations = Iterator[Violation]


def leaves_of(measurements: Iterable[Measurement]) -> tuple[str, ...]:
    """The ids of the leaves of measurements, each once."""
    return tuple(dict.fromkeys(measurement.required.leaf.id for measurement in measurements))


def keys_of(measurements: Iterable[Measurement]) -> list[str]:
    """The keys of their leaves in the file, each once."""
    return list(dict.fromkeys(measurement.required.leaf_key for measurement in measurements))


def name_of(found: Sequence[Measurement]) -> str:
    """The name of measurements of one task: the key of the only one, else the task and the number of its subtasks."""
    keys, task = keys_of(found), found[0].required.task
    return keys[0] if len(keys) == 1 else f"{task.title} ({len(keys)} of {len(task.leaves)} subtasks)"


def one_for_each_task(violations: Iterable[Violation]) -> Violations:
    """The first violation of each task, which names the leaves of the others: one fault is one finding."""
    every = [*violations]
    for found in grouped((violation.task, violation) for violation in every).values() if every else ():
        first, leaves = found[0], tuple(dict.fromkeys(leaf for violation in found for leaf in violation.leaves))
        names = [leaf for leaf in leaves if leaf not in first.leaves]
        more = f"; the same in {examples(names)}" if names else ""
        yield replace(first, message=f"{first.message}{more}", leaves=leaves)


Parts = Sequence[tuple[Sequence[str], int | None]]  # keys of leaves, each with the number of shots of their call


def rerun_advice(case: Case | RowCase, part: Parts, what: str, *, newest: bool = False) -> tuple[str, str]:
    """The hint and the command that measure tasks of a result, or of a row, again, so that the new file joins it.

    `what` says what to do, such as "measure it again". Where no command can be given the hint says the number of shots.
    """
    version, command = _rerun(case, part, newest=newest)
    shots = "" if command or len(part) > 1 or part[0][1] is None else f" with {part[0][1]} shots"
    return f"{what}{shots}{version}{':' if command else ''}", command


def run_again(case: Case, what: str, *, newest: bool = False) -> tuple[str, str]:
    """The hint and the command that make a whole run again."""
    by_shots = grouped((one.required.task.num_fewshot, one) for one in case.measurements.present)
    parts = [(keys_of(found), shots) for shots, found in by_shots.items()]
    version, command = _rerun(case, parts, newest=newest)
    return f"{what}{version}{':' if command else ''}", command


def _rerun(case: Case | RowCase, parts: Parts, *, newest: bool) -> tuple[str, str]:
    """What else the hint says, first the accepted version to measure with, and the command, "" if there is none."""
    known, model = find_format(case.result.format), case.result.model
    advised = _advised(case, parts, newest=newest)
    apart = ""
    if known and known.records_weights(advised.version if advised else "", model.source):
        apart = _apart(model, case.leaderboard)
    if apart and {key for key, _ in _every_leaf(case)} <= {*_keys_in(parts)}:
        apart = ""  # all is measured anyway
    if apart:
        parts = every_task(case)
        advised = _advised(case, parts, newest=newest)
    repository, version = advised or ("", "")
    again, settings = _asked_again(case)
    runs = [
        Rerun(again, tuple(dict.fromkeys(_with_groups(keys, case.result))), shots, settings) for keys, shots in parts
    ]
    commands = calls(known, runs, case.leaderboard.harness.formats, repository, version)
    said = (f" ({advised.title})" if advised else "") + apart
    if why := _no_command(case, known, _keys_in(parts), commands):
        return said + why, ""
    return said + (NO_CODE if commands and runs_own_code(model) else ""), " && ".join(commands)


def _advised(case: Case | RowCase, parts: Parts, *, newest: bool) -> Advised | None:
    result = case.result
    return advised_version(result.harness, result.format, _keys_in(parts), case.leaderboard, case.facts, newest=newest)


def _keys_in(parts: Parts) -> list[str]:
    return [key for keys, _ in parts for key in keys]


def _asked_again(case: Case | RowCase) -> tuple[Model, Mapping[str, str]]:
    """The model and the settings of the result, as far as the leaderboard accepts how they were asked."""
    result, template = case.result, case.leaderboard.harness.chat_template
    model, settings = result.model, result.settings
    if template != "any":
        model = replace(model, chat_template=template == "always")
    if (wanted := accepted_gen_kwargs(case.leaderboard, result)) is not None:
        settings = {name: value for name, value in settings.items() if name != "gen_kwargs"}
        settings |= {"gen_kwargs": json.dumps(wanted)} if wanted else {}
    return model, settings


def _no_command(case: Case | RowCase, known: Format | None, keys: Sequence[str], commands: Sequence[str]) -> str:
    """Why there is no command that measures these keys for the leaderboard; "" where there is one, or never is."""
    board, model = case.leaderboard, case.result.model
    if known is None or known.rerun is None:
        return ""
    written = known.writes or known.id
    if known.writes and written not in board.harness.formats:
        return NOT_TAKEN.format(written, board.id)
    if hides_log_likelihoods(model) and (unlike := _without_answers(case, keys)):
        return NO_LOG_LIKELIHOODS.format(examples(unlike))
    if not commands:
        return NOT_RECORDED
    return NO_PATH.format(shown(model.id)) if loads_path(model) else ""


def _without_answers(case: Case | RowCase, keys: Iterable[str]) -> list[str]:
    """The titles of the tasks behind keys of leaves that need log-likelihoods."""
    named = {*keys}
    required = required_metrics(case.leaderboard, case.result.format)
    asked = [one for one in required if one.leaf_key in named and needs_log_likelihoods(one, case.result.format)]
    return list(dict.fromkeys(one.task.title for one in asked))


def _apart(model: Model, board: Leaderboard) -> str:
    """Why a new file with the commit and the precision of a model joins none of its files; "" where it does."""
    if model.is_plain or loads_path(model):
        return ""
    ways = {}
    if not REVISION.fullmatch(model.revision):
        called = "…" if model.is_mapped else model.id
        named = "ORGANIZATION/NAME" if why_unidentified(model) else model.id
        ways["commit"] = f"`--model-name {called}={named}@COMMIT`"
    if not model.precision:
        ways["precision"] = "" if board.id in shipped() else "`precision`, which the maintainer sets for the board"
    if not ways:
        return ""
    named = f"; to measure less, say {'both' if len(ways) > 1 else 'it'} first, by {' and '.join(ways.values())}"
    why = f" with all other tasks: this file does not record the model's {' and '.join(ways)}, so no new file joins it"
    return why + (named if all(ways.values()) else "")


def _every_leaf(case: Case | RowCase) -> list[tuple[str, int | None]]:
    """The keys of all leaves that the result's format measures, each with its shots."""
    board, used = case.leaderboard, case.result.format
    return [(leaf.key(used), task.num_fewshot) for task, leaf in board.leaves() if used in board.formats_of(leaf)]


def every_task(case: Case | RowCase) -> Parts:
    """All that a result's format measures of a leaderboard."""
    by_shots = grouped((shots, key) for key, shots in _every_leaf(case))
    return [(keys, shots) for shots, keys in by_shots.items()]


def _with_groups(keys: Sequence[str], result: Result) -> Sequence[str]:
    """The keys of leaves, with the name of each group whose members are all among them in their place.

    A leaf that is missing from the file is of the group after which it and all members are named.
    """
    groups = {**_known_groups(keys, result.format), **result.subtasks} if len(keys) > 1 else {}
    for group, members in sorted(groups.items(), key=lambda one: -len(one[1])):
        if len(members) > 1 and set(members) <= set(keys):
            named = f"{group}_" if all(one.startswith(f"{group}_") for one in members) else ""
            ours = [key for key in keys if key in members or (named and key.startswith(named))]
            keys = [*(key for key in keys if key not in ours), group]
    return keys


def _known_groups(keys: Iterable[str], format_id: str) -> dict[str, Sequence[str]]:
    """The groups that the harness has by one name, of the leaves with these keys, and their members."""
    leaves = [catalogue().find(format_id, key) for key in keys] if format_id == OF_RELEASES else []
    of = {leaf.of.id: leaf.of for leaf in leaves if leaf and isinstance(leaf.of, Group) and leaf.of.id in leaf.of.rows}
    return {name: [one.key.replace(PLACE, member) for member in members_of(one)] for name, one in of.items()}


class Rule(msgspec.Struct, frozen=True):
    """A registered rule.

    `check` judges a Case, a RowCase, or the Problem of a file that no format reads.
    `invalidates_score` says that where it reports an error there is no number to show. `is_pin` says that it reports
    what a file does not show: an error on a leaderboard that demands its pins. `on` gives the severity on a leaderboard
    that accepts what the rule finds or demands what it misses, None on the others. `looks_at` is the field of a result,
    or of a row, without which the rule finds nothing, `given` such a field of the facts, and `where` tells whether it
    can find anything on a leaderboard.
    """

    id: str
    severity: Severity
    since: str
    invalidates_score: bool
    check: Callable[[Any], Iterable[Violation]]
    page: str
    is_pin: bool = False
    on: OnLeaderboard = lambda _: None
    looks_at: str = ""
    given: str = ""
    where: Callable[[Leaderboard], bool] = lambda _: True

    def can_find(self, leaderboard: Leaderboard, facts: Facts) -> bool:
        """Tell whether it can find anything on a leaderboard with these facts."""
        return self.where(leaderboard) and bool(not self.given or getattr(facts, self.given))

    def severity_on(self, leaderboard: Leaderboard) -> Severity:
        """The severity of the rule on a leaderboard."""
        is_pinned = self.is_pin and leaderboard.harness.pins == "required"
        return self.on(leaderboard) or (Severity.ERROR if is_pinned else self.severity)

    @property
    def sections(self) -> list[tuple[str, str]]:
        """The headings of the rule's page with the text below each as Markdown; values of a file are a code block."""
        _, *parts = HEADING.split(self.page)
        named = zip(parts[::2], map(str.strip, parts[1::2]), strict=True)
        return [(name, f"```text\n{text}\n```" if DATA.match(text) else text) for name, text in named]

    @property
    def title(self) -> str:
        """The first line of the rule's page."""
        return self.page.partition("\n")[0]


def rule(
    severity: Severity,
    *,
    since: str = "0.1.0",
    invalidates_score: bool | None = None,
    is_pin: bool = False,
    is_one_a_task: bool = False,
    on: OnLeaderboard = lambda _: None,
    looks_at: str = "",
    given: str = "",
    where: Callable[[Leaderboard], bool] = lambda _: True,
) -> Callable[[Callable[[Any], Iterable[Violation]]], Rule]:
    """Register a function as the rule of its name in kebab case.

    Its module's docstring is its page; in a module of several rules, the function's own. With `is_one_a_task` the
    violations of one task become one.
    """

    def register(check: Callable[[Any], Iterable[Violation]]) -> Rule:
        own = inspect.getdoc(check) or ""
        page = own if "\n## " in own else (sys.modules[check.__module__].__doc__ or "").strip()
        blocks = severity is Severity.ERROR if invalidates_score is None else invalidates_score
        name = check.__name__.replace("_", "-")
        find = (lambda case: one_for_each_task(check(case))) if is_one_a_task else check
        return Rule(name, severity, since, blocks, find, page, is_pin, on, looks_at, given, where)

    return register


def findings_of(rule: Rule, case: object, path: str, leaderboard: Leaderboard) -> list[Finding]:
    """The findings of one rule, with the leaderboard's severity; if the rule crashes, one finding names the rule."""
    try:
        violations = [*rule.check(case)]
    except Exception as error:
        log.exception("the rule %s failed on %s", rule.id, path)
        return [_failure(rule, rule.severity_on(leaderboard), error, path)]
    if not violations:
        return []
    severity = rule.severity_on(leaderboard)
    return [_finding(rule, severity, violation, violation.file or path) for violation in violations]


def _finding(rule: Rule, severity: Severity, violation: Violation, path: str) -> Finding:
    """A violation as a finding in a file; a pointer of a folder's file names the file before the first `#`."""
    is_inside = not violation.pointer.startswith("/") and "#" in violation.pointer
    name, _, pointer = violation.pointer.partition("#") if is_inside else ("", "", violation.pointer)
    return Finding(
        rule=rule.id,
        severity=violation.severity or severity,
        message=violation.message,
        hint=violation.hint,
        location=Location(f"{path}/{name}" if name else path, pointer, violation.line),
        task=violation.task,
        leaves=violation.leaves,
        command=violation.command,
        invalidates_score=rule.invalidates_score,
    )


def _failure(rule: Rule, severity: Severity, error: Exception, path: str) -> Finding:
    """Report that a rule failed: as an error if the rule reports errors, else as a warning that blocks nothing."""
    is_error = severity is Severity.ERROR
    left = "the file is not accepted" if is_error else "its warnings are missing"
    failed = Severity.ERROR if is_error else Severity.WARNING
    message = f"the rule {rule.id} failed, so {left}: {described(error)}"
    return Finding(rule.id, failed, message, REPORT, Location(path), invalidates_score=is_error)


def described(error: Exception) -> str:
    """An error of the bot itself, in one line."""
    return shown(f"{type(error).__name__}: {error}", 200)


SHA256 = "sha256:"


def waive(finding: Finding, leaderboard: Leaderboard, facts: Facts, submissions: Iterable[Parsed]) -> Finding:
    """An error as a warning that names the waiver, if one covers it today; `submissions` are those it is about."""
    today = facts.today
    if not finding.is_error or today is None:
        return finding
    for waiver in (*leaderboard.waivers, *facts.waivers):
        is_about = not waiver.tasks or finding.task in waiver.tasks
        is_asked = waiver.rule == finding.rule and is_about and today <= waiver.until
        if is_asked and any(_covers(waiver, submission) for submission in submissions):
            by = Waived(waiver.rule, waiver.who, waiver.reason, str(waiver.until))
            message = f"{finding.message} (waived by {by.who} until {by.until}: {by.reason})"
            return replace(finding, severity=Severity.WARNING, message=message, waived=by)
    return finding


def _covers(waiver: Waiver, submission: Parsed) -> bool:
    if waiver.submission.startswith(SHA256):
        return bool(submission.sha256) and waiver.submission == SHA256 + submission.sha256
    is_of_model = submission.result is not None and waiver.submission == submission.result.model.id
    return is_of_model or fnmatchcase(submission.path, waiver.submission)
