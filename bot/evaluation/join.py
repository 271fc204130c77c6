"""Join submissions into rows: for each leaf the newest submission counts in which that leaf has no error.

Neither the order of the submissions nor a copy of one matters: their contents and dates decide.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, islice, product
from math import fsum

import msgspec
from msgspec.structs import replace

from bot.evaluation.definition import differences
from bot.evaluation.finding import Finding, Location, Severity, Status, grouped, shown
from bot.evaluation.formats.sameness import has_examples, is_of_examples, other_weights, settings_of, weights_of
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.measurement import Measurement, Measurements, RequiredMetric, required_metrics
from bot.evaluation.repair import repair_of, unneeded
from bot.evaluation.result import Result
from bot.evaluation.row_key import RowKey, key_of
from bot.evaluation.rules import ROW_RULES
from bot.evaluation.rules.duplicate_scores import duplicate_scores
from bot.evaluation.rules.harness_commit import judge_harness, range_of
from bot.evaluation.rules.malformed_file import malformed_file
from bot.evaluation.rules.missing_task import missing_task
from bot.evaluation.rules.nearly_duplicate import nearly_duplicate
from bot.evaluation.rules.rule import NO_FACTS, REPORT, Facts, RowCase, Rule, described, findings_of, waive
from bot.evaluation.rules.unaccepted_harness_commit import unaccepted_harness_commit
from bot.evaluation.rules.unverifiable_harness_commit import unverifiable_harness_commit
from bot.evaluation.rules.wrong_owner import deciding_owners, wrong_owner
from bot.evaluation.score import ColumnValue, column_values, make_scores
from bot.evaluation.sources import SourceFiles, are_apart
from bot.evaluation.submission import DAY, believed_date, latest_date, own_date
from bot.evaluation.verdict import CommitFact, Judgement, LeafRun, Repeat, Row, RowFacts, Verdict

Leaves = dict[str, list[Measurement]]
LeavesOfRows = Mapping[RowKey, frozenset[str]]
Beside = tuple[LeavesOfRows, Mapping[str, frozenset[str]]]  # `others` and `formats` of a RowCase

log = logging.getLogger(__name__)
NO_ROW_FACTS = RowFacts()
MOST_WEIGHTS = 20  # different weights of one key that are compared
MOST_OTHERS = 50  # rows of a model that are looked through for a missing task; strangers decide how many there are
OF_HARNESS = frozenset({unaccepted_harness_commit.id, unverifiable_harness_commit.id})


class JoinCandidate(msgspec.Struct, frozen=True, gc=False):
    """A submission of a row's key: its `sound` leaves, and with an error those whose numbers can be `shown`.

    `blocked` has, for each leaf that is not sound, the rules that found errors.
    """

    verdict: Verdict
    sound: Leaves
    shown: Leaves
    blocked: Mapping[str, tuple[str, ...]]

    @property
    def age(self) -> tuple[float, str]:
        """The sort key of age, largest for the newest: the date, then the digest of the content."""
        return self.verdict.date, self.verdict.sha256


def join_rows(
    verdicts: Iterable[Verdict],
    leaderboard: Leaderboard,
    facts: Facts = NO_FACTS,
    only: Collection[RowKey] | None = None,
) -> list[Row]:
    """The rows that submissions make, in the order of their keys; one that no format reads is in none.

    `only` are the keys of the rows that are wanted, None for all.
    """
    by_key = verdicts_by_key(verdicts, leaderboard)
    keys = sorted(by_key)
    of_model = grouped((key.model, key) for key in keys)
    of_revision = grouped(((key.model, key.revision), key) for key in keys)

    @cache
    def leaves(key: RowKey) -> frozenset[str]:
        """The leaves that the files of a row measured, soundly or not."""
        found = (one for verdict in by_key[key] if verdict.measurements for one in verdict.measurements.present)
        return frozenset(one.required.leaf.id for one in found)

    def others(key: RowKey) -> LeavesOfRows:
        """The rows that may be of the same model at the same revision: of one of them no file says the revision."""
        if len(of_model[key.model]) == 1:
            return {}
        unpinned = of_revision.get((key.model, ""), [])
        near = [*of_revision[key.model, key.revision], *unpinned] if key.revision else of_model[key.model]
        return {other: leaves(other) for other in near[:MOST_OTHERS] if other != key}

    rules = [rule for rule in ROW_RULES if rule.can_find(leaderboard, facts)]
    accepted = leaderboard.harness.formats
    formats = _formats(by_key, accepted) if len(accepted) > 1 else {}
    wanted = (key for key in keys if only is None or key in only)
    rows = [_row(key, by_key[key], leaderboard, facts, (others(key), formats), rules=rules) for key in wanted]
    ranked = grouped((row.key.model, row) for row in rows if row.status == "accepted")
    said = [unneeded(row, by_key[row.key], ranked.get(row.key.model, ())[:MOST_OTHERS]) for row in rows]
    return [replace(row, repair=one) if one else row for row, one in zip(rows, said, strict=True)]


def _formats(by_key: Mapping[RowKey, Sequence[Verdict]], accepted: Collection[str]) -> dict[str, frozenset[str]]:
    """By leaf the accepted formats of the results that measured it."""
    found: dict[str, set[str]] = {}
    for verdict in [verdict for verdicts in by_key.values() for verdict in verdicts]:
        if verdict.measurements is not None and (used := verdict.parsed.format) in accepted:
            for one in verdict.measurements.present:
                found.setdefault(one.required.leaf.id, set()).add(used or "")
    return {leaf: frozenset(formats) for leaf, formats in found.items()}


def verdicts_by_key(verdicts: Iterable[Verdict], leaderboard: Leaderboard) -> dict[RowKey, list[Verdict]]:
    """The verdicts on the files of each row, in the order in which they come; what no format reads is left out."""
    return grouped(
        (key_of(leaderboard.id, verdict.result.model), verdict) for verdict in verdicts if verdict.result is not None
    )


def judgements_of_rows(judgement: Judgement) -> list[Judgement]:
    """A judgement in parts: of each row with its files, and of each file that no format reads."""
    files = verdicts_by_key(judgement.verdicts, judgement.leaderboard)
    parts = [replace(judgement, verdicts=tuple(files[row.key]), rows=(row,)) for row in judgement.rows]
    return parts + [replace(judgement, verdicts=(one,), rows=()) for one in judgement.unreadable]


def _row(
    key: RowKey,
    verdicts: Sequence[Verdict],
    leaderboard: Leaderboard,
    facts: Facts,
    beside: Beside,
    *,
    rules: Iterable[Rule],
) -> Row:
    """The row of a key. Where the bot itself fails on its files, a rejected row says so, and no other row is lost."""
    try:
        return _judged(_join(key, verdicts, leaderboard, facts), verdicts, facts, beside, rules)
    except Exception as error:
        log.exception("joining the files of %s failed", key.text)
        lead = verdicts[0]
        message = f"the files of this row could not be joined: {described(error)}"
        finding = Finding(malformed_file.id, Severity.ERROR, message, REPORT, Location(lead.path))
        nothing = Measurements((), tuple(required_metrics(leaderboard, lead.parsed.format or "")))
        scores = make_scores(nothing, leaderboard)
        return Row(key, leaderboard, "rejected", nothing, scores, lead, (), findings=(finding,))


def _join(key: RowKey, verdicts: Sequence[Verdict], leaderboard: Leaderboard, facts: Facts) -> Row:
    candidates = sorted(map(_candidate, _distinct(verdicts)), key=lambda one: one.age, reverse=True)
    best, *smaller = _sets(candidates, leaderboard, facts) if len(candidates) > 1 else [candidates]
    for other in smaller:
        if _is_beside(best, other, leaderboard, facts):
            best = sorted([*best, *other], key=lambda one: one.age, reverse=True)
    picked: dict[str, JoinCandidate] = {}
    for file in reversed(best):
        picked |= dict.fromkeys(file.sound, file)
    for file in reversed(best) if len(best) > 1 else ():  # a leaf with all of its metrics counts before one without
        picked |= {leaf_id: file for leaf_id, found in file.sound.items() if _is_whole(found)}
    if not picked:
        return _rejected(key, candidates, leaderboard)
    files = [file for file in best if any(file is one for one in picked.values())]
    leaves = {leaf_id: file.sound[leaf_id] for leaf_id, file in picked.items()}
    measurements = _in_order(leaves, files, leaderboard)
    without_errors = [file for file in best if file.sound and file.verdict.status == "accepted"]
    if without_errors and all(file.verdict.status == "rejected" for file in files):
        files.append(without_errors[0])  # without it the evidence would be of faulty files, and give no row
    compared = candidates if leaderboard.join.settings == "never" else best
    others = [file for one in smaller for file in one if file.sound and not any(file is joined for joined in best)]
    return Row(
        key=key,
        leaderboard=leaderboard,
        status=("incomplete" if without_errors else "rejected") if measurements.missing else "accepted",
        measurements=measurements,
        scores=replace(make_scores(measurements, leaderboard), columns=_columns(picked, files, leaderboard)),
        lead=files[0].verdict,
        files=tuple(file.verdict for file in files),
        blocked=_blocked(candidates, picked),
        repeats=tuple(_repeats(compared)) if len(compared) > 1 else (),
        left_out={
            file.verdict.path: _setting_unlike(file, files, leaderboard)
            for file in sorted(others, key=lambda one: one.age, reverse=True)
        },
        prompts=_prompts(files, others),
        other_weights=_other_weights(candidates) if len(candidates) > 1 else "",
    )


def _sets(candidates: Iterable[JoinCandidate], leaderboard: Leaderboard, facts: Facts) -> list[list[JoinCandidate]]:
    """The candidates in sets that can stand in one row, the set that has the most first."""
    conditions = grouped((_conditions(one.verdict, leaderboard, facts), one) for one in candidates)
    _join_without_examples(conditions)
    sets = [part for found in conditions.values() for part in _asking_the_same(found)]
    return sorted(sets, key=_extent, reverse=True)


def _rejected(key: RowKey, candidates: Sequence[JoinCandidate], leaderboard: Leaderboard) -> Row:
    """The row of submissions without a sound leaf: the numbers of one file, for information and never published.

    Of files with as many numbers it is one without errors, then the newest: the candidates come newest first.
    """
    best = max(candidates, key=lambda one: (len(one.shown), one.verdict.status == "accepted"))
    measurements = _in_order(best.shown, [best], leaderboard)
    return Row(
        key=key,
        leaderboard=leaderboard,
        status="rejected",
        measurements=measurements,
        scores=make_scores(measurements, leaderboard),
        lead=best.verdict,
        files=(),
        blocked=_blocked(candidates, {}),
    )


def _distinct(verdicts: Sequence[Verdict]) -> Iterable[Verdict]:
    """Each content once, where it was first."""
    first: dict[str, Verdict] = {}
    for verdict in verdicts:
        known = first.get(verdict.sha256)
        if known is None or (verdict.date, verdict.path) < (known.date, known.path):
            first[verdict.sha256] = verdict
    return first.values()


def _candidate(verdict: Verdict) -> JoinCandidate:
    leaves: Leaves = {}
    for measurement in verdict.measurements.present if verdict.measurements else ():
        leaves.setdefault(measurement.required.leaf.id, []).append(measurement)
    errors = [found for found in verdict.findings if found.is_error or found.waived]
    faulty = {error.task for error in errors}
    outside = {one.required.leaf.id for found in leaves.values() for one in found if not _is_in_range(one)}
    sound: Leaves = {}
    shown: Leaves = {}
    blocked: dict[str, tuple[str, ...]] = {}
    for leaf_id, found in leaves.items():
        is_faulty = "" in faulty or found[0].required.task.id in faulty
        about = [error for error in errors if _is_about(error, found[0])] if is_faulty else []
        is_number = leaf_id not in outside
        if is_number and not [error for error in about if error.is_error]:
            sound[leaf_id] = found
            continue
        blocked[leaf_id] = tuple(dict.fromkeys(error.rule for error in about))
        if is_number and not any(error.invalidates_score for error in about):
            shown[leaf_id] = found
    return JoinCandidate(verdict, sound, shown, blocked)


def _is_about(finding: Finding, measurement: Measurement) -> bool:
    if not finding.task:
        return True
    return finding.task == measurement.required.task.id and (
        not finding.leaves or measurement.required.leaf.id in finding.leaves
    )


def _is_in_range(measurement: Measurement) -> bool:
    """Tell whether the value is a number that a score can be made of; false for NaN, waived or not."""
    lowest, highest = measurement.required.task.range
    return lowest <= measurement.value <= highest


def _is_whole(measurements: Sequence[Measurement]) -> bool:
    return len(measurements) == len(measurements[0].required.task.metrics)


def _asking_the_same(candidates: Iterable[JoinCandidate]) -> list[list[JoinCandidate]]:
    """The candidates in sets in which no leaf was measured by two definitions, each newest first.

    Of those that asked exactly the same, one in each set is compared: somebody may submit a run a thousand times.
    """
    sets: list[tuple[dict[object, JoinCandidate], list[JoinCandidate]]] = []
    for candidate in candidates:
        asked = _asked(candidate)
        fitting = (
            one for one in sets if asked in one[0] or not any(_asked_otherwise(candidate, of) for of in one[0].values())
        )
        if (found := next(fitting, None)) is None:
            sets.append(found := ({}, []))
        found[0].setdefault(asked, candidate)
        found[1].append(candidate)
    return [found for _, found in sets]


def _asked(candidate: JoinCandidate) -> object:
    """What a candidate asked: its format, and the digest of the definition of each sound leaf."""
    asked = sorted((leaf_id, found[0].leaf.definition) for leaf_id, found in candidate.sound.items())
    return candidate.verdict.parsed.format, tuple(asked)


def _asked_otherwise(one: JoinCandidate, other: JoinCandidate) -> str:
    """How the definitions differ of the first leaf that two candidates measured by different ones; "" for none."""
    for leaf_id in sorted(one.sound.keys() & other.sound.keys()):
        if why := _difference(one, other, leaf_id):
            return why
    return ""


def _difference(one: JoinCandidate, other: JoinCandidate, leaf_id: str) -> str:
    result, other_result = one.verdict.result, other.verdict.result
    if result is None or other_result is None:
        return ""
    found = differences(result, _key(one, leaf_id), other_result, _key(other, leaf_id))
    return next((f"{leaf_id}: {field} is {value} and not {instead}" for field, value, instead in found), "")


def _key(candidate: JoinCandidate, leaf_id: str) -> str:
    return candidate.sound[leaf_id][0].required.leaf_key


def _join_without_examples(found: dict[tuple[object, ...], list[JoinCandidate]]) -> None:
    """Put the files whose tasks have no examples to those that share all else: nothing says how theirs were shown."""
    for alone in [conditions for conditions in found if conditions[-1] is None]:
        others = [one for one in found if one[-1] is not None and one[:-1] == alone[:-1]]
        if others:
            to = max(others, key=lambda one: _extent(found[one]))
            found[to] = sorted([*found[to], *found.pop(alone)], key=lambda one: one.age, reverse=True)


def _conditions(verdict: Verdict, leaderboard: Leaderboard, facts: Facts) -> tuple[object, ...]:
    """What files must share: the accepted range of the harness, and how they were asked.

    Last stands how examples were shown, None where a file has none. A harness that cannot be verified is a range of
    its own for each format, unless only one range writes the format.
    """
    if leaderboard.join.settings == "never" or verdict.result is None:
        return (verdict.sha256, ())
    result = verdict.result
    span = range_of(result.harness, result.format, leaderboard, facts)
    settings = sorted(settings_of(result).items())
    examples = tuple(one for one in settings if is_of_examples(one[0])) if has_examples(result) else None
    others = tuple(one for one in settings if not is_of_examples(one[0]))
    return span, "" if span is not None else result.format, others, examples


def _columns(
    picked: Mapping[str, JoinCandidate], files: Sequence[JoinCandidate], leaderboard: Leaderboard
) -> tuple[ColumnValue, ...]:
    """The columns that do not count, from the files that count, of several the one that counts for their leaf."""
    if not leaderboard.columns:
        return ()
    results = {leaf_id: file.verdict.result for leaf_id, file in picked.items()}
    results |= {f"/{number}": file.verdict.result for number, file in enumerate(files)}  # no leaf is called so
    return column_values(leaderboard, {name: one for name, one in results.items() if one is not None})


def _is_beside(
    files: Sequence[JoinCandidate], others: Sequence[JoinCandidate], leaderboard: Leaderboard, facts: Facts
) -> bool:
    """Tell whether files of other formats measured other leaves of the same row.

    An accepted range holds for its formats, so a board may have tasks of two harnesses, see `are_apart`. Each has
    settings of its own: those of one name must agree.
    """
    if leaderboard.join.settings == "never":
        return False
    if not all(are_apart(one, other, leaderboard) for one, other in product(_sources(files), _sources(others))):
        return False
    if leaderboard.harness.accepted and not all(_is_in_own_range(one, leaderboard, facts) for one in (*files, *others)):
        return False
    known: dict[str, str] = {}
    for result in filter(None, (one.verdict.result for one in (*files, *others))):
        settings = settings_of(result)
        if any(known.get(name, value) != value for name, value in settings.items()):
            return False
        known |= settings
    return True


def _sources(candidates: Iterable[JoinCandidate]) -> list[SourceFiles]:
    """The formats of files, each with the leaves that its files have."""
    by_format = grouped((one.verdict.parsed.format or "", one) for one in candidates)
    return [SourceFiles(used, frozenset(leaf for one in of for leaf in one.sound)) for used, of in by_format.items()]


def _is_in_own_range(one: JoinCandidate, leaderboard: Leaderboard, facts: Facts) -> bool:
    """Tell whether the harness of a file is in a range that holds for the file's format, or may be in it alone."""
    result = one.verdict.result
    if result is None:
        return False
    judged = judge_harness(result.harness, leaderboard, facts)
    spans = [number for number, span in enumerate(leaderboard.harness.accepted) if result.format in span.formats]
    return judged.span in spans if judged.span is not None else judged.answer == "unknown" and len(spans) == 1


def _other_weights(candidates: Iterable[JoinCandidate]) -> str:
    """How the weights of the files with numbers differ, and which two; "" where nothing says that they do."""
    first: dict[object, tuple[str, Result]] = {}
    for one in candidates:
        result = one.verdict.result
        if result is not None and one.sound:
            told = (*sorted(weights_of(result).items()), result.model.size, result.model.parameters)
            first.setdefault(told, (one.verdict.path, result))
    for (path, ours), (other_path, theirs) in combinations(islice(first.values(), MOST_WEIGHTS), 2):
        if why := other_weights(ours, theirs):
            return f"{shown(path)} and {shown(other_path)}: {why}"
    return ""


def _setting_unlike(other: JoinCandidate, files: Sequence[JoinCandidate], leaderboard: Leaderboard) -> str:
    """The first setting that a file has otherwise than those of a row, else both harnesses; "" where these agree.

    Of two formats only what both say differs.
    """
    results = [one.verdict.result for one in (other, *files) if one.verdict.result is not None]
    theirs, ours = (settings_of(results[0]), settings_of(results[1]))
    is_of_other = all(one.format != results[0].format for one in results[1:])
    for name in sorted(theirs.keys() & ours.keys() if is_of_other else theirs.keys() | ours.keys()):
        if theirs.get(name) != ours.get(name):
            their, our = (shown(one[name]) if name in one else "not set" for one in (theirs, ours))
            return f"{name} is {their}, and {our} in the row"
    if is_of_other and not all(
        are_apart(one, its, leaderboard) for one, its in product(_sources(files), _sources([other]))
    ):
        fix = "a form that names its leaves has no others"
        return f"both {shown(results[0].format)} and {shown(results[1].format)} may have its tasks; {fix}"
    harnesses = [one.harness.version or one.harness.git_hash or "unknown" for one in results[:2]]
    their, our = map(shown, harnesses)
    return f"the harness is {their}, and {our} in the row" if their != our else ""


def _prompts(files: Sequence[JoinCandidate], others: Sequence[JoinCandidate]) -> dict[str, str]:
    """For each file that is left out, how it asked otherwise than the files of the row; by its path."""
    found = {other.verdict.path: next(filter(None, (_asked_otherwise(other, one) for one in files)), "")
             for other in others}  # fmt: skip
    return {path: why for path, why in sorted(found.items()) if why}


def _extent(candidates: Sequence[JoinCandidate]) -> tuple[int, tuple[float, str]]:
    """How many leaves a set has, and how new it is."""
    leaves = {leaf_id for file in candidates for leaf_id, found in file.sound.items() if _is_whole(found)}
    return len(leaves), max((file.age for file in candidates if file.sound), default=(-1.0, ""))


def _in_order(leaves: Leaves, files: Sequence[JoinCandidate], leaderboard: Leaderboard) -> Measurements:
    """The measurements of these leaves of some files in the order of the declaration, and what is missing."""
    lead = files[0]
    of_lead = lead.verdict.measurements
    if len(files) == 1 and of_lead is not None and sum(map(len, leaves.values())) == len(of_lead.present):
        return of_lead
    measured = {(leaf_id, one.required.metric_id): one for leaf_id, found in leaves.items() for one in found}
    present: list[Measurement] = []
    missing: list[RequiredMetric] = []
    for required in required_metrics(leaderboard, lead.verdict.parsed.format or ""):
        measurement = measured.get((required.leaf.id, required.metric_id))
        if measurement is None:
            missing.append(required)
        else:
            present.append(measurement)
    return Measurements(tuple(present), tuple(missing))


def _blocked(candidates: Sequence[JoinCandidate], picked: Mapping[str, JoinCandidate]) -> dict[str, tuple[str, ...]]:
    """The leaves that only have measurements with errors, and the rules that found these."""
    found: dict[str, list[str]] = {}
    for candidate in candidates:
        for leaf_id, rules in candidate.blocked.items():
            if leaf_id not in picked:
                found.setdefault(leaf_id, []).extend(rules)
    return {leaf_id: tuple(dict.fromkeys(rules)) for leaf_id, rules in sorted(found.items())}


def _repeats(candidates: Sequence[JoinCandidate]) -> Iterable[Repeat]:
    """The leaves with several sound values, in the order of their names; candidates come newest first."""
    runs: dict[tuple[str, str], dict[tuple[float, ...], LeafRun]] = {}
    latest: dict[tuple[str, str], float | None] = {}
    newest: dict[str, JoinCandidate] = {}
    for candidate in candidates:
        for leaf_id, found in candidate.sound.items():
            if _is_whole(found) and not _difference(candidate, newest.setdefault(leaf_id, candidate), leaf_id):
                values = tuple(one.value for one in found)
                verdict = candidate.verdict
                date, of = own_date(verdict.result, verdict.path), (found[0].required.task.id, leaf_id)
                others = runs.setdefault(of, {})
                is_dated = date is not None and not (others and date == latest[of])  # the newest is the only one then
                others.setdefault(values, LeafRun(verdict.path, fsum(values) / len(values), is_dated))
                latest.setdefault(of, date)
    for (task_id, leaf_id), different in sorted(runs.items(), key=lambda item: item[0]):
        if len(different) > 1:
            yield Repeat(task_id, leaf_id, tuple(different.values()))


def _judged(row: Row, verdicts: Sequence[Verdict], facts: Facts, beside: Beside, rules: Iterable[Rule]) -> Row:
    """The row with the findings of the rules of rows."""
    case = RowCase(row, row.leaderboard, facts, *beside, tuple(verdicts))
    parsed = [verdict.parsed for verdict in verdicts]
    asked = [rule for rule in rules if not rule.looks_at or getattr(row, rule.looks_at)]
    found = [finding for rule in asked for finding in findings_of(rule, case, row.lead.path, row.leaderboard)]
    findings = tuple(waive(finding, row.leaderboard, facts, parsed) for finding in found)
    failed = any(finding.is_error and finding.rule != missing_task.id for finding in findings)
    status: Status = "rejected" if failed else row.status
    judged = replace(row, findings=findings, status=status) if findings else row
    repair = repair_of(RowCase(judged, row.leaderboard, facts), verdicts)
    decided = row_facts(judged, facts)
    is_more = decided is not None or repair is not None
    return replace(judged, facts=decided, repair=repair) if is_more else judged


def row_facts(row: Row, facts: Facts) -> RowFacts | None:
    """The facts without which the same files would give another row, None if there are none."""
    if facts is NO_FACTS:
        return None
    warned = {finding.rule for finding in row.findings}
    found = RowFacts(
        today=str(facts.today) if any(_is_decided_by_day(file, facts) for file in row.files) else "",
        commits=dict(_commits(row, facts)),
        same_values=facts.same_values[row.key.text] if duplicate_scores.id in warned else "",
        owners={prefix: names for file in row.files for prefix, names in _owners(file, facts).items()},
        alike=facts.alike[row.key.text] if nearly_duplicate.id in warned else None,
        names={file.called: facts.names[file.called] for file in row.files if file.called},
    )
    return None if found == NO_ROW_FACTS else found


def _is_decided_by_day(file: Verdict, facts: Facts) -> bool:
    """Tell whether a file's date is believed, or called one of the future, because of the day of judging."""
    own, committed = own_date(file.result, file.path), facts.committed.get(file.path)
    if max(own or 0.0, (committed or 0.0) + DAY) <= latest_date(facts.today, None):
        return False  # long ago on this day and on any other
    if believed_date(own, committed, facts.today) != believed_date(own, committed):
        return True
    return own is not None and latest_date(facts.today, committed) < own <= latest_date(None, committed)


def _commits(row: Row, facts: Facts) -> Iterator[tuple[str, CommitFact]]:
    """The answers about harness commits that decided, by the commit as the file spells it."""
    for file in row.files:
        commit = file.result.harness.git_hash if file.result is not None else None
        if commit is not None and commit in facts.commits:
            found = _commit_fact(file, row.leaderboard, facts)
            if found is not None:
                yield commit, found


def _commit_fact(file: Verdict, leaderboard: Leaderboard, facts: Facts) -> CommitFact | None:
    if file.result is None:
        return None
    harness = file.result.harness
    judged, alone = judge_harness(harness, leaderboard, facts), judge_harness(harness, leaderboard, NO_FACTS)
    is_told = any(finding.waived is not None and finding.rule in OF_HARNESS for finding in file.findings)
    if (judged.answer, judged.span) == (alone.answer, alone.span) and not is_told:
        return None
    repository = leaderboard.harness.accepted[judged.span].repository if judged.span is not None else ""
    return CommitFact(judged.answer, repository, judged.why if is_told else "")


def _owners(file: Verdict, facts: Facts) -> dict[str, tuple[str, ...]]:
    is_asked = any(finding.rule == wrong_owner.id for finding in file.findings)
    organization = file.result.model.id.partition("/")[0] if file.result is not None else ""
    return deciding_owners(file.path, organization, facts.owners) if is_asked else {}
