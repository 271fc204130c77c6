"""Boards that are odd: one row, one column, no rank, two rows of one model, names that no picture has room for."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from operator import getitem

import pytest
from msgspec.structs import replace

from bot.errors import MalformedEntry
from bot.evaluation.result import HarnessVersion
from bot.evaluation.rounding import half_up
from bot.evaluation.row_key import RowKey
from bot.evaluation.score import average_of
from bot.evaluation.statistics import LEVEL
from bot.pages.addresses import column_page, row_page
from bot.pages.badge import BADGED
from bot.pages.compare_page import compare_page, find, titles_of
from bot.pages.content import PageContent
from bot.pages.drawing import (
    FOREST_ROWS,
    RIGHT,
    WIDTH,
    Axis,
    ForestRow,
    against_size,
    differences,
    fitting,
    forest,
    over_time,
)
from bot.pages.site import Site
from bot.publishing.board import Board, BoardRow, make_board, rank_ranges, rank_sentence, records
from bot.publishing.changes import BoardChange, ScoreChange, additions, change_of
from bot.publishing.compared_rows import compared_rows
from bot.publishing.entry import Entry, EntrySamples, Remark, parse_entry
from bot.publishing.models import ModelFacts
from bot.publishing.publication import entry_marker
from bot.publishing.texts import request_text
from bot.reporting.comparison import sentence_of
from tests.evaluation.judging import declared
from tests.pages.boards import (
    FAR_OFF,
    GROUPS,
    board_of_rows,
    data_of,
    found,
    generated,
    hostile,
    site_of,
    site_of_groups,
    site_of_long_names,
)
from tests.variants import SLOW


def named(entry: Entry, name: str, precision: str = "bfloat16") -> Entry:
    model = replace(entry.model, id=name, precision=precision)
    key = RowKey(entry.leaderboard.id, name, model.revision, precision, chat_template=False).text
    return replace(entry, key=key, model=model)


def without_first(entry: Entry) -> Entry:
    """The entry with a hole in its first task."""
    first, *others = entry.tasks
    tasks = (replace(first, score=None, raw=None, stderr=None, leaves=()), *others)
    coverage = replace(entry.coverage, missing=("leaderboard_ifeval",), present=entry.coverage.required - 1)
    return replace(entry, tasks=tasks, average=None, stderr=None, verdict="incomplete", coverage=coverage)


def text(site: Site, path: str) -> str:
    return " ".join(found(site[path]).text.split())


def pages_of(site: Site, folder: str) -> list[str]:
    return [path for path in site if path.startswith(folder)]


def test_one_row_is_told_in_the_singular() -> None:
    site = site_of(generated(1))
    assert "1 ranked row · measured up to" in text(site, "index.html")
    assert "1 row home page" in text(site, "about.html")
    assert "questions 1 row with a score How" in text(site, "columns/bbh.html")
    assert "Does it follow" not in text(site, "columns/bbh.html")  # one row cannot say it


def test_the_day_of_a_model_of_a_service_is_no_revision() -> None:
    [row] = generated(1)
    row = replace(row, model=replace(row.model, id="openrouter/x-ai/grok", revision="2026-01-21", precision=""))
    page = text(site_of((row,)), pages_of(site_of((row,)), "rows/")[0])
    request = request_text(row, None, entry_marker(row)).body
    for said in (page, request):
        assert "measured on 2026-01-21" in said
        assert "revision" not in said


def test_a_board_of_incomplete_rows_says_that_none_has_a_rank() -> None:
    site = site_of(tuple(map(without_first, generated(3))))
    assert "No row has a rank yet, 3 incomplete · measured up to" in text(site, "index.html")
    row = text(site, pages_of(site, "rows/")[0])
    assert "because 1 subtask is missing: leaderboard_ifeval." in row
    assert "lm_eval --model hf \\ --model_args pretrained=org-0/model-000,revision=" in row
    assert "--tasks leaderboard_ifeval --num_fewshot 0 --batch_size auto \\ --output_path results" in row
    assert "0 rows with a score, 3 without How" in text(site, "columns/ifeval.html")


def test_a_task_of_which_all_subtasks_are_missing_is_named_once() -> None:
    (entry,) = generated(1)
    left = [leaf.id for task, leaf in declared().leaves() if task.id in {"bbh", "musr"}][:-1]
    site = site_of((replace(without_first(entry), coverage=replace(entry.coverage, missing=tuple(left))),))
    names = "leaderboard_musr_murder_mysteries, leaderboard_musr_object_placements"
    assert f"26 subtasks are missing: all 24 of BBH; {names}." in text(site, pages_of(site, "rows/")[0])


def test_two_rows_of_one_model_can_be_told_apart() -> None:
    rows = [
        named(entry, f"org/model-{place // 2}", ("float16", "bfloat16")[place % 2])
        for place, entry in enumerate(generated(40))
    ]
    site = site_of(tuple(rows))
    titles = [re.findall("<title>(.*)</title>", site[path].decode())[0] for path in pages_of(site, "rows/")]
    assert len(set(titles)) == len(rows)
    columns = [found(site[path]) for path in pages_of(site, "columns/")]
    page = next(page for page in columns if page.tables[-1][0] == ["Row", "With", "Without", "Moved"])
    moved, dots = page.tables[-1][1:], page.tables[-2][1:]
    assert len({line[0] for line in moved}) == len(moved)
    assert len({line[0] for line in dots}) == len(rows)
    assert {line[0].partition(" ")[2] for line in moved} <= {"float16, plain", "bfloat16, plain"}
    for address in page.links:
        if "rows/" in address:
            assert address.removeprefix("../").partition("#")[0] in site


def test_sentences_tell_rows_of_one_model_apart() -> None:
    one, two, three = [
        replace(named(entry, "org/model", precision), average=50.0 - place, stderr=1.0)
        for place, (entry, precision) in enumerate(zip(generated(3), ("float16", "bfloat16", "4bit"), strict=True))
    ]
    ranges = rank_ranges([50.0, 49.0, 48.0], [1.0, 1.0, 1.0])
    entries = (one, two, three)
    rows = tuple(BoardRow(i, *ranks, e) for i, (ranks, e) in enumerate(zip(ranges, entries, strict=True), start=1))
    said = rank_sentence(rows[0], rows, 3)
    assert "not separable from org/model (bfloat16" in said
    lead = text(Site(PageContent(Board(declared(), rows))), "index.html")
    assert "org/model (float16, plain) is first with" in " ".join(lead.replace("\u200b", "").split())


def test_the_sentence_of_a_row_says_what_chance_leaves() -> None:
    one, two, three = generated(3)
    entries = (replace(one, average=50.0, stderr=1.0), replace(two, average=49.0, stderr=1.0))
    entries = (*entries, replace(three, average=20.0, stderr=1.0))
    ranges = rank_ranges([entry.average or 0.0 for entry in entries], [1.0, 1.0, 1.0])
    ranked = [BoardRow(i, *ranks, e) for i, (ranks, e) in enumerate(zip(ranges, entries, strict=True), start=1)]
    board = Board(declared(), tuple(ranked))
    assert [rank_sentence(row, board.rows, 3) for row in board.rows] == [
        f"Rank 1 to 2 of 3; not separable from {two.model.id}; better than 1.",
        f"Rank 1 to 2 of 3; not separable from {one.model.id}; better than 1.",
        "Rank 3 of 3; better than none.",
    ]
    assert rank_sentence(board_of_rows(generated(1)).rows[0], board.rows[:1], 1) == "Rank 1 of 1."
    more = (*board.rows, BoardRow(4, None, None, replace(three, average=None)))
    assert rank_sentence(board.rows[2], more, 3) == "Rank 3 of 3 (ranked rows); better than none."
    site = Site(PageContent(board))
    for row in board.rows:
        assert rank_sentence(row, board.rows, 3) in text(site, row_page(site.content.names[row.entry.key]))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("model-001", ("org-1/model-001/", 0)),
        ("MODEL-00", ("org-", 10)),
        ("g-1/model-00", ("org-1/", 2)),
        ("nobody", ("", 0)),
    ],
)
def test_a_row_is_found_by_any_part_of_its_name(asked: str, expected: tuple[str, int]) -> None:
    titles = titles_of(site_of(generated(12)).content)
    name, choices = find(titles, asked)
    assert (name[: len(expected[0])], choices) == expected


def test_a_comparison_begins_with_a_sentence_and_marks_what_chance_does_not_explain() -> None:
    second, first = generated(2)
    assert first.average is not None
    assert second.average is not None
    content = site_of((first, second)).content
    page = found(compare_page(content, [first.model.id, second.model.id]))
    names = (first.model.id.partition("/")[2], second.model.id.partition("/")[2])
    compared = compared_rows(second, first, names[::-1])  # told from the higher row, which is asked for first here
    assert compared is not None
    assert compared.average is not None
    words = sentence_of(compared, *names[::-1])
    assert "chance alone does not explain this" in words
    assert words in page.text
    low, high = compared.average.contrast.interval(LEVEL)
    amount = first.average - second.average
    shown = [f"{first.average:.2f}", f"{second.average:.2f}", f"+{amount:.2f} ±{(high - low) / 2:.2f} higher"]
    assert page.tables[-1][1] == ["Average", *shown]
    assert f"{amount:.2f} ±{(high - low) / 2:.2f} points" in page.text
    assert f"{names[0]} higher" in page.text
    assert page.tables[-1][0][-1] == "Difference"
    assert f"Difference: {names[0]} minus {names[1]}. Each difference has" in page.text
    assert "No row has “nobody” in its name." in found(compare_page(content, ["nobody"])).text


def test_a_name_of_200_letters_does_not_hide_who_is_higher() -> None:
    long, other = hostile()[4], hostile()[6]
    content = site_of((long, other)).content
    page = found(compare_page(content, [content.names[long.key], content.names[other.key]])).text
    assert "long" * 12 not in page.partition("Choose")[2]
    assert f"{'long' * 6}…{('long' * 6)[1:]}" in page


def test_rows_without_a_common_task_have_no_difference_and_no_line_that_neither_fills() -> None:
    first, second, third = generated(3)
    parts = ((first, first.tasks[:2]), (second, second.tasks[2:4]))
    halves = [replace(entry, tasks=tasks, average=None) for entry, tasks in parts]
    content = site_of((*halves, third)).content
    page = found(compare_page(content, [content.names[one.key] for one in halves]))
    assert "nothing to compare" in page.text
    assert "Difference:" not in page.text
    assert "standard error" not in page.text
    assert [line[0] for line in page.tables[-1][1:]] == ["IFEval", "BBH", "MATH Lvl 5", "GPQA"]


def test_rows_of_one_common_task_say_that_the_difference_is_of_it() -> None:
    first, second = generated(2)
    content = site_of((first, replace(second, tasks=second.tasks[:1], average=None))).content
    page = found(compare_page(content, list(content.rows))).text
    assert " points higher than " in page
    assert " in the one task that both have" in page


def test_one_row_asked_for_twice_is_said_to_be_one() -> None:
    content = site_of(generated(2)).content
    name = next(iter(content.rows))
    assert "This is one row twice. Choose a second row." in found(compare_page(content, [name, name])).text


def test_numbers_below_zero_on_an_axis_have_a_minus_sign() -> None:
    drawn = str(
        differences(
            "a minus b", [("x", -12.0, 1.0, True), ("y", 3.0, 1.0, False)], fitting("difference", [-13.0, 4.0])
        ).svg
    )
    assert ">−10<" in drawn
    assert ">-" not in drawn


def test_what_was_measured_differently_is_said_beside_who_is_better_and_before_the_tables() -> None:
    second, first = generated(2)
    other = replace(first, model=replace(first.model, precision="4bit"))
    page = found(compare_page(site_of((second, other)).content, [other.model.id, second.model.id]))
    verdict, differing = page.text.index("chance alone"), page.text.index("They were measured differently: precision.")
    assert verdict < differing < page.text.index("Each difference has")


def silent(entry: Entry) -> Entry:
    """The entry of a result that says nothing of its chat template and its precision."""
    return replace(entry, model=replace(entry.model, chat_template=None, precision=""))


def test_what_no_file_says_is_nowhere_said() -> None:
    first, second, third = generated(3)
    site = site_of((silent(first), silent(second), third))
    names = [site.content.names[row.key] for row in (first, second, third)]
    assert "precision not said, chat template not said" in text(site, row_page(names[0]))
    assert "bfloat16, chat template not used" in text(site, row_page(names[2]))
    both = found(compare_page(site.content, names[:2])).text
    assert "Neither says: chat template, precision." in both
    assert "Measured alike: " in both
    assert "chat template" not in both.partition("Measured alike: ")[2].partition(".")[0]
    records = site.content.records
    assert {(one["model"], one["chat_template"]) for one in records} == {
        (first.model.id, None), (second.model.id, None), (third.model.id, False),
    }  # fmt: skip
    assert b'"chat_template":null' in silent(first).to_bytes().replace(b" ", b"")
    compared = compared_rows(silent(first), silent(second), ("A", "B"))
    said = compared_rows(first, second, ("A", "B"))
    assert compared is not None
    assert said is not None
    assert said.equal - compared.equal == 2


def test_a_model_of_which_the_hub_names_no_base_is_not_said_to_be_one() -> None:
    entry, other = generated(2)
    facts = {entry.key: ModelFacts(licence="mit", date="2026-03-02")}
    page = found(Site(PageContent(board_of_rows((entry,)), facts=facts))["index.html"])
    assert "billion parameters, licence mit, base unknown, bfloat16, chat template not used." in page.text
    facts[other.key] = ModelFacts(licence="mit", kind="merge", base="a/b", date="2026-03-02")
    head, *lines = found(Site(PageContent(board_of_rows((entry, other)), facts=facts))["index.html"]).tables[0]
    assert "Licence" not in head
    assert {line[head.index("Type")] for line in lines} == {"base unknown", "merge"}


def test_the_values_of_a_setting_stand_in_the_order_of_the_tasks_that_it_names() -> None:
    first, second = generated(2)
    versions = first.versions | {"leaderboard_ifeval": "9", "leaderboard_mmlu_pro": "8"}
    other = replace(first, key=f"{first.key}-other", versions=versions)
    content = site_of((first, other, second)).content
    table = found(compare_page(content, [content.names[first.key], content.names[other.key]])).tables[-1]
    assert [line[2] for line in table if line[0] == "task version: IFEval, MMLU-PRO"] == ["9, 8"]


def test_no_half_of_a_row_stands_at_an_axis_and_one_day_has_no_chart() -> None:
    site = site_of(generated(5))
    ticks = re.findall(r'text-anchor="end">([\d.]+)<', site["columns/bbh.html"].decode())
    assert "1" in ticks
    assert not [tick for tick in ticks if "." in tick]
    assert "svg" not in found(site_of(generated(1))["changes.html"]).elements
    assert "svg" in found(site_of(generated(2))["changes.html"]).elements


def test_a_record_that_begins_with_a_first_look_says_so_and_the_site_whether_models_were_looked_up() -> None:
    board = board_of_rows(generated(2))
    partial = Site(PageContent(board, history=(), is_partial=True))
    assert "The record begins with a first look at the board" in text(partial, "changes.html")
    assert "The record begins" not in text(Site(PageContent(board, history=())), "changes.html")
    assert "These pages do not say if a model has changed" in text(partial, "about.html")
    assert "was looked up when" in text(Site(PageContent(board, heads={})), "about.html")


def test_a_difference_of_unknown_error_has_no_interval_and_leaves_the_average_without_one() -> None:
    rows = [
        replace(row, tasks=tuple(replace(task, stderr=None) if task.id == "bbh" else task for task in row.tasks))
        for row in generated(2)
    ]
    content = site_of(tuple(rows)).content
    page = found(compare_page(content, list(content.rows)))
    scores = {line[0]: line[-1] for line in page.tables[-1][1:]}
    assert re.fullmatch(r"[+-][0-9.]+", scores["BBH"])
    assert re.fullmatch(r"[+-][0-9.]+ ±[0-9.]+ higher", scores["IFEval"])
    unknown = "1 of 6 tasks has no standard error, so the average has none"
    assert f"on the average of 6 tasks; {unknown}; over tasks it is " in page.text
    assert not re.search(r"\b(inf|nan)\b", page.text)


def test_rows_are_compared_under_names_in_any_script() -> None:
    rows = tuple(named(entry, name) for name, entry in zip(("組織/模型", "org/plain"), generated(2), strict=True))
    site = site_of(rows)
    name = next(name for name in site.content.rows if name.startswith("~"))
    shown = f"組織/模型/{name.rpartition('/')[2]}"
    data = data_of(site["compare-data.js"])
    assert data["titles"] == {name: shown}
    page = compare_page(site.content, list(site.content.rows)).decode()
    assert "模型" in found(page.encode()).tables[-1][0]
    assert '<option value="組織/模型">組織/模型: ' in page
    assert '<option value="org/plain">org/plain: ' in page


def test_right_answers_are_counted_with_the_samples_of_the_declaration_where_the_file_counts_none() -> None:
    """Harness 0.4 wrote no `n-samples` at first; `explain` counts these, too."""
    row, other = generated(2)
    bare = [replace(task, leaves=tuple(replace(leaf, samples=None) for leaf in task.leaves)) for task in row.tasks]
    sites = [site_of((one, other)) for one in (row, replace(row, tasks=tuple(bare), num_samples={}))]
    counted, uncounted = (found(site[row_page(site.content.names[row.key])]).tables for site in sites)
    assert uncounted == counted


def test_a_row_says_in_one_word_what_it_rests_on() -> None:
    entry, other = generated(2)
    leaves = [leaf.id for task in entry.tasks for leaf in task.leaves]
    logs = tuple(EntrySamples(leaf, f"samples_{leaf}.jsonl", "a" * 64, 250, "b" * 32, "rescored") for leaf in leaves)
    site = site_of((replace(entry, samples=logs, rests_on="rescored"), other))
    head, *lines = found(site["index.html"]).tables[-1]
    place = [title.removesuffix(" i") for title in head].index("Evidence")
    assert {line[1]: line[place] for line in lines} == {entry.model.id: "rescored", other.model.id: "file"}
    page = found(site[row_page(site.content.names[entry.key])]).text
    assert f"which were scored again ({250 * len(leaves)} samples in 1 log)" in page
    assert "It does not show that the model gave these answers." in page
    assert "Evidence" not in found(site_of((other,))["index.html"]).text


def test_a_row_names_the_columns_that_are_quoted_or_without_an_error_and_says_when_it_was_pushed() -> None:
    """As of a lab that has a run of lm-eval beside a record of Every Eval Ever, which has no time of its run."""
    one, two = generated(2)
    [run] = one.evidence[:1]
    record = replace(run, path="record.json", date="2099-12-01", dated_by="commit", quoted_from="Some Board")
    tasks = tuple(
        replace(task, stderr=None, leaves=tuple(replace(leaf, file="record.json") for leaf in task.leaves))
        if task.id == "ifeval" else task for task in one.tasks[:3]
    )  # fmt: skip
    average = average_of([task.score for task in tasks])
    row = replace(one, rests_on="quoted", stderr=None, tasks=tasks, average=average, evidence=(run, record))
    alike = replace(two, stderr=None, tasks=tasks, average=average)
    content = site_of((row, alike)).content
    page = text(Site(content), row_page(content.names[row.key]))
    assert "by the averages alone: IFEval has no standard error, so the average has none." in page
    assert "IFEval is quoted, without a file of a run; the rest is from result files." in page
    assert f"Measured{run.date[:16].replace('T', ' ')} (UTC); 1 file of 2 does not say when" in page
    assert records(content.board)[0]["date"] == run.date  # not the day of the push
    assert "quoted from Some Board, pushed 2099-12-01" in page
    assert page.count("leaderboard-bot explain") == 1
    later = replace(run, path="later.json", date="2099-12-02T10:00:00Z", harness=HarnessVersion("own-eval"))
    several = site_of((replace(row, evidence=(later, run)),))
    page = text(several, row_page(several.content.names[row.key]))
    assert f"Measured{run.date[:10]} to 2099-12-02" in page
    assert " and own-eval" in page.partition("Harness")[2].partition("Measured")[0]
    only = site_of((replace(row, evidence=(record,)),)).content
    page = text(Site(only), row_page(only.names[row.key]))
    assert "Pushed2099-12-01; no file says when it was measured" in page
    assert dates(site_of((row, alike))) == ("Date", [run.date[:10], two.date[:10]])  # of a row whose files say it
    board = site_of((replace(row, evidence=(record,)), alike))
    assert dates(board) == ("Date", ["2099-12-01 pushed", two.date[:10]])
    assert f"measured up to {two.date[:10]}" in text(board, "about.html")
    assert dates(Site(only)) == ("Pushed", ["2099-12-01"])
    assert "1 ranked row · pushed up to 2099-12-01" in text(Site(only), "index.html")
    assert "1 row, pushed up to 2099-12-01" in text(Site(only), "about.html")


def dates(site: Site) -> tuple[str, list[str]]:
    """The title of the last column of a board without incomplete rows, and its cells, in the order of models."""
    head, *lines = found(site["index.html"]).tables[-1]
    return head[-1], [line[-1].strip() for line in sorted(lines, key=lambda line: line[1])]


def test_ranks_by_averages_without_errors_are_not_said_to_be_more_than_chance() -> None:
    """As of a board of MTEB, whose results in embeddings-benchmark/results `f4cc6c8b` give no standard error."""
    one, two, three = generated(3)
    bare = tuple(
        replace(row, stderr=None, tasks=tasks, average=average_of([task.score for task in tasks]))
        for row in (one, two)
        for tasks in [tuple(replace(task, stderr=None) for task in row.tasks[:5])]  # too few for ranks over tasks
    )
    alone = "Rank 1 of 2 by the averages alone: its files give no standard error."
    page = found(site_of(bare)["index.html"]).text
    assert alone in page
    assert "The rows are ranked by their averages alone" in page
    assert "chance leaves a row" not in page
    whole = [
        replace(row, stderr=None, tasks=tuple(replace(task, stderr=None) for task in row.tasks)) for row in (one, two)
    ]
    mixed = found(site_of((*whole, three))["index.html"]).text
    assert "Rows without ± are ranked by their averages alone" in mixed
    assert "±" not in page.partition("How to read it")[2]
    assert "1.96 standard errors; in the bar" in found(site_of((three,))["index.html"]).text
    assert "chance leaves a row" in mixed


def test_rows_with_the_same_numbers_are_said_to_have_them() -> None:
    one, two = generated(2)
    copy = named(one, two.model.id)
    site = site_of((one, copy))
    names = [site.content.names[row.key] for row in (one, copy)]
    page = found(compare_page(site.content, names)).text
    names = " and ".join(row.model.id.partition("/")[2] for row in (one, copy))
    assert f"{names} have the same numbers in all 6 tasks: one may be a copy or a repeat of the other." in page
    assert "separable" not in page.partition("Score")[0]


def bare(entry: Entry, *scores: float) -> Entry:
    """The entry with these scores of its tasks and no standard error, as tools that give none leave it."""
    tasks = [
        replace(task, score=score, raw=score / 100, stderr=None, leaves=(replace(
            task.leaves[0], raw=score / 100, score=score, lower_bound="0", stderr=None),))
        for task, score in zip(entry.tasks, scores, strict=True)
    ]  # fmt: skip
    return replace(entry, tasks=tuple(tasks), average=average_of(list(scores)), stderr=None)


def test_the_tasks_of_a_group_stand_beside_it_and_an_outlier_is_told_at_both() -> None:
    site = site_of_groups()
    table = found(site["index.html"]).tables[0]
    heads = [
        (group, *(f"{group}{name}" for name in names if len(names) > 1)) for group, names in GROUPS.items()
    ]  # a group of one task is its task
    assert 'data-name="SummEval" title="SummEval"><span>Summarization' in site["index.html"].decode()
    assert [title.removesuffix(" i") for title in table[0][3:-1]] == [*itertools.chain(*heads), "IFEval"]
    page = site["index.html"].decode()
    cells = re.findall(r'<td class="([^"]*\bodd\b[^"]*)">([\d.]+)', page)
    folded = [group for group, names in GROUPS.items() if len(names) > 1]
    group = next(group for group in folded if FAR_OFF[0] in GROUPS[group])
    assert [kinds.split()[-1] for kinds, _ in cells] == ["group", f"g{folded.index(group)}"]
    assert cells[1][1] == f"{FAR_OFF[1]:.2f}"
    assert re.search(r'<td class="q[3-9] group">', page)  # the tint of which the legend speaks
    assert "A group with ? has such a score in it." in found(site["index.html"]).text


def test_a_rank_that_the_tasks_leave_open_is_not_what_a_reader_sees_first() -> None:
    one, two = generated(2)
    site = site_of((bare(one, 60, 61, 62, 63, 64, 50), bare(two, 50, 51, 52, 53, 54, 60)))
    path = row_page(site.content.names[one.key])
    page = text(site, path)
    assert [line[0] for line in found(site["index.html"]).tables[0][1:]] == ["1–2", "1–2"]  # the board hides no range
    assert "Rank 1 of 2 by its average; over its tasks, chance allows any rank." in page
    assert "(that row is lower in 5 of 6 tasks; that may be chance)" in page
    assert f"Not separable from {two.model.id} (higher in 5 of 6 tasks, p = 0.219)." in text(site, "index.html")
    badge = site[f"badges/{site.content.names[one.key]}.svg"].decode()
    assert "rank 1 of 2 · 60.00" in badge
    assert "1–2" not in badge


def test_tasks_with_the_same_numbers_in_all_rows_count_once_over_tasks() -> None:
    """As in mlfoundations/dclm 361714b, whose files have ten totals of seven different numbers."""
    scores, rows = ((60, 61, 62, 63, 64, 50), (50, 51, 52, 53, 54, 60)), []
    for row in map(bare, generated(2), *zip(*scores, strict=True)):
        tasks = (*row.tasks, replace(row.tasks[0], id="again"))
        rows.append(replace(row, tasks=tasks, average=average_of([task.score for task in tasks])))
    board = declared()
    again = board.tasks[0].model_copy(update={"id": "again", "title": "Again"})
    made = make_board(rows, board.model_copy(update={"tasks": (*board.tasks, again)}))
    site = Site(PageContent(made))
    page = text(site, row_page(site.content.names[rows[0].key]))
    assert "(that row is lower in 5 of 6 tasks with different numbers; that may be chance)" in page
    assert "Tasks with the same numbers in all rows count once." in text(site, "index.html")
    compared = compare_page(site.content, list(site.content.rows)).decode()
    assert "higher in 5 of 6 (1 more has the numbers of one of them): not more than chance" in compared


def test_a_row_after_the_first_badges_says_why_it_has_none() -> None:
    row = generated(1)[0]
    many = [named(row, f"org/model-{place}") for place in range(BADGED + 1)]
    site = site_of(tuple(many))
    last = site.content.board.rows[-1]
    page = text(site, row_page(site.content.names[last.entry.key]))
    assert f"Only the first {BADGED} rows have a badge." in page
    assert f"[Open LLM Leaderboard v2: rank 1–{BADGED + 1} of {BADGED + 1}, average {row.average:.2f}](ADDRESS/" in page
    assert f"badges/{site.content.names[last.entry.key]}.svg" not in site


@pytest.mark.parametrize("count", [1, 2, 15, 40])
def test_a_forest_names_and_links_the_first_rows(count: int) -> None:
    rows = [ForestRow(f"org/m{place}", f"rows/m{place}.html", 90.0 - place, 1.0) for place in range(count)]
    drawn = forest("Averages", rows)
    assert re.findall('href="([^"]+)"', str(drawn.svg)) == [row.page for row in rows[:FOREST_ROWS]]
    assert [name for name, _, _ in drawn.rows] == [row.name for row in rows[:FOREST_ROWS]]


def test_names_in_a_chart_are_whole_and_no_line_to_a_name_crosses_another() -> None:
    rows = [
        (f"org/Model-{'of-a-long-name-' * (place % 3)}{place}", 10**9 + 10**8 * place, 4.0 * place)
        for place in range(16)
    ]
    drawn = str(against_size("Averages", rows, Axis("average", 0, 60)).svg)
    names = re.findall('class="name" x="([0-9]+)" y="([0-9]+)" text-anchor="(start|middle|end)">([^<]+)', drawn)
    assert len(names) > 2
    assert {name for *_, name in names} <= {name.removeprefix("org/") for name, _, _ in rows}
    lines = [list(map(int, found)) for found in re.findall('class="lead-line" d="M([0-9]+) ([0-9]+)V([0-9]+)"', drawn)]
    assert lines
    for x, y, anchor, name in names:
        left = int(x) - {"start": 0, "middle": 0.5, "end": 1}[anchor] * 7 * len(name)
        assert not [at for at, top, foot in lines if left < at < left + 7 * len(name) and top < int(y) - 4 < foot]


def test_a_column_says_whether_its_best_score_is_more_than_chance() -> None:
    best, *others = generated(3)
    [task, *rest] = best.tasks

    def lead(*scores: tuple[float, float | None]) -> str:
        rows = [
            replace(row, tasks=(replace(task, score=score, stderr=stderr), *rest))
            for row, (score, stderr) in zip((best, *others), scores, strict=False)
        ]
        return found(site_of(tuple(rows))[column_page(task.id)]).text.partition(" with a score")[0]

    assert "90.00 ±2.0; better than all others." in lead((90.0, 1.0), (87.0, 1.0), (80.0, 1.0))
    assert "90.00 ±2.0; chance may explain the difference to 1 other row." in lead(
        (90.0, 1.0), (87.3, 1.0), (80.0, 1.0)
    )
    assert "90.00 ±2.0; chance may explain the difference to 2 other rows." in lead(
        (90.0, 1.0), (87.3, 1.0), (88.5, None)
    )
    assert "highest score, 90.00." in lead((90.0, None), (87.3, 1.0), (80.0, 1.0))
    assert "90.00 ±2.0." in lead((90.0, 1.0))


@pytest.mark.slow
def test_a_week_counts_all_of_its_changes_where_the_page_shows_the_newest() -> None:
    rows = generated(130)
    added = [replace(one, date="2026-03-04T10:00:00Z") for one in additions(rows)]
    page = found(Site(PageContent(board_of_rows(rows), history=added))["changes.html"])
    assert "In the seven days to 2026-03-04: 130 added. " in page.text
    assert "130 added" not in page.text.partition("Week of 2026-03-02")[2]  # the first sentence said it
    assert "These are the first 20 of 130; the file has all." in page.text
    assert len(page.tables[-1]) == 1 + 20
    apart = [replace(one, date=f"2026-03-04T10:00:{place % 60:02}Z") for place, one in enumerate(added)]
    page = found(Site(PageContent(board_of_rows(rows), history=apart))["changes.html"])
    assert "the newest 100 are listed" in page.text
    assert "The file has 30 older changes." in page.text
    assert len(page.tables[-1]) == 1 + 100
    many = Site(PageContent(board_of_rows(rows), history=added * 10))
    assert "2026-03-04: 1,300 added. " in text(many, "changes.html")


def test_rows_of_one_model_are_told_apart_and_name_each_other() -> None:
    first, second, third, alone = generated(4)
    chat = replace(first, key=f"{first.key}-chat", model=replace(first.model, chat_template=True))
    one, other = (replace(row, model=replace(row.model, id="org/twice")) for row in (second, third))
    site = site_of((first, chat, one, other, alone))
    setups, names = site.content.setups, site.content.names
    assert (setups[first.key], setups[chat.key]) == ("bfloat16, plain", "bfloat16, chat")
    # Where precision and template are the same, the ends of the addresses differ.
    assert {setups[row.key] for row in (one, other)} == {names[row.key].rpartition("/")[2] for row in (one, other)}
    assert alone.key not in setups
    cells = {row[1] for table in found(site["index.html"]).tables for row in table[1:]}
    assert {f"{first.model.id} bfloat16, plain", f"{chat.model.id} bfloat16, chat", alone.model.id} <= cells
    page = found(site[row_page(names[first.key])])
    said = f"This row: bfloat16, plain. Other rows of this model: bfloat16, chat, {first.average:.2f}."
    assert said in " ".join(page.text.split())
    changed = {line[0] for table in found(site["changes.html"]).tables for line in table}
    assert {f"{first.model.id}, bfloat16, plain", f"{chat.model.id}, bfloat16, chat", alone.model.id} <= changed
    assert "Computed again" not in page.text
    assert f"../../../{row_page(names[chat.key])}" in page.links
    assert "Others of this model" not in found(site[row_page(names[alone.key])]).text


def test_a_raw_value_says_where_lower_is_better() -> None:
    board = declared()
    low = board.tasks[1].model_copy(update={"higher_is_better": False})
    tasks = (board.tasks[0], low, *board.tasks[2:])
    site = Site(PageContent(make_board(generated(2), board.model_copy(update={"tasks": tasks}))))
    heads = [
        [title.removesuffix(" i") for title in found(site[page]).tables[-1][0]] for page in ("raw.html", "index.html")
    ]
    assert [head[4] for head in heads] == ["BBH, lower is better", "BBH"]
    assert 'data-kind="low" data-name="bbh"' in site["raw.html"].decode()


def test_a_warning_stands_beside_the_average_and_at_the_head_of_the_page() -> None:
    other, row = generated(2)
    named = replace(row, warnings=(Remark("implausibly-low", "MATH Lvl 5 is exactly 0 on 1,324 samples"),))
    site = site_of((named, other))
    assert b' data-doubt="MATH Lvl 5 is exactly 0">' in site["index.html"]
    assert "To look at: MATH Lvl 5 is exactly 0." in " ".join(found(site["index.html"]).text.split())
    page = site[row_page(site.content.names[named.key])].decode()
    assert "<strong>MATH Lvl 5 is exactly 0 on 1,324 samples.</strong>" in page
    assert page.count("<span class=mark") == 1
    warned = replace(row, warnings=(Remark("implausibly-low", "MATH is 0"),))
    site = site_of((warned, other))
    assert site["index.html"].count(b'<td class="warned bar') == 1
    page = found(site[row_page(site.content.names[warned.key])])
    words = "A task is at exactly 0, or far below guessing, in a run that is sound otherwise."
    assert f"1 warning about this row: {words} MATH is 0. Rule: implausibly-low" in " ".join(page.text.split())
    lead = " ".join(found(site["index.html"]).text.split())
    first, second = site.content.board.rows
    assert first.entry.key == warned.key
    assert f"{row.model.id} is first with {first.entry.average:.2f} ±" in lead
    assert re.search(
        r"\. (?:Better than|Not separable)[^.]*\. To look at: 1 warning\. The first row without such", lead
    )
    assert f"such a mark is {other.model.id} with {second.entry.average:.2f} ±" in lead
    assert any(link.endswith("rules.html#implausibly-low") for link in page.links)


def test_a_mark_that_most_rows_have_makes_no_other_row_the_first() -> None:
    """As of saucam/model_evals, where 12 of 15 rows are of an unknown commit."""
    usual = Remark("unpinned-revision", "no commit")
    first, *others = [row.entry for row in site_of(generated(5)).content.board.rows]
    rows = [replace(first, warnings=(usual,)), *(replace(row, warnings=(usual,)) for row in others[:2]), *others[2:]]
    page = text(site_of(tuple(rows)), "index.html")
    assert " To look at: 1 warning." in page
    assert "without such a mark" not in page
    odd = replace(first, warnings=(usual, Remark("implausibly-low", "MATH is 0")))
    site = site_of((odd, *rows[1:]))
    assert f"The first row without such a mark is {others[0].model.id} with " in text(site, "index.html")
    assert site["index.html"].count(b" data-usual") == 2


def test_a_row_that_contradicts_itself_says_so_once_and_shows_no_equation() -> None:
    row, other = generated(2)
    task = row.tasks[0]
    wrong = (task.score or 0.0) + 9.6
    site = site_of((replace(row, tasks=(replace(task, score=wrong), *row.tasks[1:])), other))
    page = text(site, row_page(site.content.names[row.key]))
    assert page.count(site.content.board.rows[1].fault) == 1
    assert "not ranked: contradicts itself" in page
    assert f"The score says {wrong:.2f}, but 100 × " in page
    assert f"{wrong:.2f} =" not in page
    assert "contradicts itself" in [line[2] for line in found(site["index.html"]).tables[1]]


def test_a_warning_that_the_board_accepts_is_no_reason_to_look_at_a_row() -> None:
    row, other = generated(2)
    content = site_of((replace(row, warnings=(Remark("older-scorer-version", "version 1.0"),)), other)).content
    assert not content.has_doubts
    assert not any(content.is_marked(one.entry) for one in content.board.rows)


def test_all_tasks_in_which_a_row_is_weakest_are_named() -> None:
    scores = ((50, 50, 60, 60, 60, 60), (55, 55, 50, 50, 50, 50), *([low] * 6 for low in (40, 39, 38)))
    site = site_of([bare(row, *some) for row, some in zip(generated(5), scores, strict=True)])
    page = text(site, row_page(site.content.names[site.content.board.rows[0].entry.key]))
    assert "weakest in IFEval and BBH, where it is better than 75 % of the others." in page


def test_a_row_that_chance_may_have_put_at_an_end_of_a_column_is_not_the_best_of_all() -> None:
    tasks = [(62.0, 20.0), (61.5, 30.0), (50.0, 40.0), (49.8, 50.0), (49.9, 60.0), (55.0, 70.0), (56.0, 80.0)]
    rows = [bare(row, *scores, *[50.0] * 4) for row, scores in zip(generated(7), tasks, strict=True)]
    rows = [replace(row, tasks=(replace(row.tasks[0], stderr=0.5), *row.tasks[1:])) for row in rows]
    site = site_of(tuple(rows))
    said = [text(site, row_page(site.content.names[row.key])) for row in rows]
    assert "Highest in IFEval (not separable from 1 other); lowest in BBH." in said[0]
    assert "Lowest in IFEval (not separable from 2 others)." in said[3]
    lone = bare(generated(7)[6], 62.5, 80.0, *[50.0] * 4)
    lone = replace(lone, tasks=(*(replace(one, stderr=0.5) for one in lone.tasks[:2]), *lone.tasks[2:]))
    site = site_of((*rows[:6], lone))
    page = text(site, row_page(site.content.names[lone.key]))
    assert "Highest in IFEval (not separable from 2 others) and BBH (separable from all others)." in page
    assert "Weakest in BBH, where it is better than 17 % of the others." in said[1]
    assert "Highest in BBH; weakest in IFEval, where it is better than 67 % of the others." in said[6]


def test_a_warning_of_every_row_is_said_once() -> None:
    """A mark on each row told none apart, as on boards of models without a commit."""
    common, own = Remark("unpinned-revision", "no commit"), Remark("implausibly-low", "MATH is 0")
    rows = [replace(row, warnings=(common,)) for row in generated(5)]
    page = site_of((replace(rows[0], warnings=(common, own)), *rows[1:]))["index.html"].decode()
    assert page.count('<td class="warned bar') == 1
    assert (
        'Every row has the same warning: <a href="rules.html#unpinned-revision">The commit of the model is unknown.</a>'
        in page
    )
    assert site_of(tuple(rows[:4]))["index.html"].count(b'<td class="warned bar') == 4
    site = site_of(tuple(rows))
    assert not any(site.content.is_marked(row.entry) for row in site.content.board.rows)


def test_a_board_leads_to_raw_values_where_its_scores_are_other_numbers() -> None:
    board = declared()
    plain = {"lower_bound": Fraction(0), "normalize": "task"}
    tasks = tuple(task.model_copy(update=plain) for task in board.tasks)
    for given, is_scaled in ((board.tasks, True), (tasks, False)):
        site = Site(PageContent(make_board(generated(2), board.model_copy(update={"tasks": given}))))
        assert (b">raw values</a>" in site["index.html"]) is is_scaled
        assert ("raw.html" in site) is is_scaled


def test_a_column_says_how_many_rows_have_nothing_in_it() -> None:
    row, other = generated(2)
    first, *tasks = row.tasks
    zero = replace(row, tasks=(replace(first, score=0.0), *tasks), warnings=(Remark("implausibly-low", "it is 0"),))
    page = text(site_of((zero, other)), f"columns/{first.id}.html")
    assert "1 row has a score of exactly 0 here; 1 of them has a warning on the page of the row." in page
    assert "exactly 0" not in text(site_of((row, other)), f"columns/{first.id}.html")


def test_the_page_of_scores_says_what_holds_on_the_board() -> None:
    rows = generated(7)
    bare = tuple(replace(one, stderr=None, tasks=tuple(replace(t, stderr=None) for t in one.tasks)) for one in rows)
    for some, has_errors in ((rows, True), (bare, False)):
        page = text(site_of(some), "scores.html")
        assert ("sqrt(p (1 − p) / (n − 1))" in page, "sqrt(a² + b²)" in page, "sign test" in page) == (
            has_errors, has_errors, not has_errors,
        )  # fmt: skip
        assert ("Where tasks share questions" in page) is has_errors
    alike = found(site_of_long_names(12)["scores.html"])
    assert alike.text.count("4 columns are made alike") == 3
    assert {f"t{place}" for place in range(12)} <= set(alike.ids)


def test_the_citation_of_a_board_names_its_day_and_commit() -> None:
    rows = generated(2)
    made = tuple(replace(one, date="2026-03-04T10:00:00Z", commit="0123abc" + "d" * 33) for one in additions(rows))
    about = text(Site(PageContent(board_of_rows(rows), history=made)), "about.html")
    assert "as of 2026-03-04, commit 0123abcddddd}" in about
    assert "as of" not in text(site_of(rows), "about.html")


def test_rows_of_one_commit_have_their_places_beside_each_other() -> None:
    """A board is often filled by one commit: none of its rows was there before another one."""
    rows = generated(4)
    best = max(rows, key=lambda row: row.average or 0.0)
    made = [replace(one, date="2026-03-04T10:00:00Z", commit="c" * 40) for one in additions(rows)]
    for added in (made, made[::-1]):
        (page,) = found(Site(PageContent(board_of_rows(rows), history=added))["changes.html"]).tables
        row, place = page[0].index("Row"), page[0].index("Place then")
        assert sorted(line[place] for line in page[1:]) == ["1", "2", "3", "4"]
        assert [line[row] for line in page[1:] if line[place] == "1"] == [best.model.id]
    apart = [replace(one, commit=str(place) * 40) for place, one in enumerate(made)]
    (page,) = found(Site(PageContent(board_of_rows(rows), history=apart))["changes.html"]).tables
    assert page[-1][place] == "1"  # the oldest stood alone


@pytest.mark.parametrize("title", ["Update 5 rows of open-llm-v2 (#7)", "Merge pull request #7 from acme/bot"])
def test_a_batch_says_its_request_once_and_no_title_of_the_bot(title: str) -> None:
    rows = generated(5)
    made = [
        replace(one, date="2026-03-04T10:00:00Z", commit="c" * 40, reason=title, scores=(ScoreChange("BBH", 1.0, 2.0),))
        for one in additions(rows)
    ]
    page = found(Site(PageContent(board_of_rows(rows), "github://acme/board", made))["changes.html"])
    assert page.links.count("https://github.com/acme/board/pull/7") == 1
    assert title.partition(" (")[0] not in page.text
    assert page.tables[0][0] == ["Row", "Average", "Place then", "What moved"]


def test_the_added_rows_of_one_commit_are_one_batch_also_around_a_changed_one() -> None:
    rows = generated(7)
    made = [replace(one, date="2026-03-04T10:00:00Z", commit="c" * 40) for one in additions(rows)]
    made[3] = replace(made[3], kind="changed", before=1.0)
    page = found(Site(PageContent(board_of_rows(rows), history=made))["changes.html"])
    assert [len(table) - 1 for table in page.tables] == [6, 1]


def test_the_first_sentence_of_the_changes_is_of_the_last_seven_days() -> None:
    rows = generated(4)
    days = ("2026-03-01", "2026-03-02", "2026-03-07", "2026-03-08")
    added = [replace(one, date=f"{day}T10:00:00Z") for one, day in zip(additions(rows), days, strict=True)]
    page = text(Site(PageContent(board_of_rows(rows), history=added[::-1])), "changes.html")
    assert "In the seven days to 2026-03-08: 3 added. " in page
    undated = [replace(one, date="") for one in added]
    assert "Up to now: 4 added. " in text(Site(PageContent(board_of_rows(rows), history=undated)), "changes.html")


def test_a_row_that_contradicts_itself_counts_nowhere_among_the_changes() -> None:
    good, bad = generated(2)
    bad = replace(bad, average=99.0)  # no mean of its scores
    days = [(good, "2026-03-01", None), (bad, "2026-03-02", None), (bad, "2026-03-03", 98.0)]
    changes = [
        BoardChange(
            f"{day}T10:00:00Z", "changed" if before else "added", row.key, row.model.id, before, row.average, ""
        )
        for row, day, before in days
    ]
    page = text(Site(PageContent(make_board((good, bad), declared()), history=changes[::-1])), "changes.html")
    assert f"{good.model.id.rpartition('/')[2]} is first" in page
    assert bad.model.id in page
    assert "99.00" not in page


def test_a_short_time_has_some_dates_below_it_and_a_name_stands_once_on_the_line() -> None:
    points = [("acme/b", "2026-10-20", 1.0), ("acme/a", "2026-11-12", 5.0), ("acme/a", "2026-11-27", 6.0)]
    drawn = over_time("The best", points, Axis("average", 0.0, 10.0)).svg
    assert re.findall(r">(\d+ \w+(?: \d+)?)<", drawn) == ["20 Oct 2026", "8 Nov", "27 Nov"]
    assert drawn.count(">a<") == 1
    assert max(float(x) for x in re.findall(r"H([\d.]+)V", drawn)) < WIDTH - RIGHT  # the last step


def _board_after(*changes: BoardChange) -> str:
    rows = generated(12)
    left = {change.key for change in changes if change.kind == "removed"}
    kept = [row for row in rows if row.key not in left]
    page = text(Site(PageContent(board_of_rows(kept), history=changes)), "changes.html")
    return page.partition("In the seven days to ")[2].partition("“Place then”")[0]


def test_the_first_sentence_says_what_became_of_the_first_ten() -> None:
    rows = sorted(generated(12), key=lambda row: -(row.average or 0.0))
    averages = [row.average or 0.0 for row in rows]

    def change(place: int, before: Entry | None, after: Entry | None, day: str = "08") -> BoardChange:
        found = change_of(before, after, f"2026-03-{day}T10:00:0{place % 10}Z")
        assert found is not None
        return found

    names = [row.model.id.rpartition("/")[2] for row in rows]
    came = change(11, None, rows[11])
    assert f"{names[0]} is first; as before. The first ten did not change." in _board_after(came)
    came = change(0, None, rows[0])
    told = f"{names[0]} is first; before, {names[1]} was. New in the first ten: {names[0]} at 1. No longer there: "
    assert told + f"{names[10]}." in _board_after(came)
    left = change(1, rows[1], None)
    told = f"New in the first ten: {names[10]} at 10. No longer there: {names[1]} (removed)."
    assert told in _board_after(left)
    swapped = change(3, replace(rows[3], average=averages[11] + 0.01), rows[3])
    said = _board_after(swapped)
    assert f"New in the first ten: {names[3]} at 4. No longer there: {names[10]}." in said
    assert f"Averages that moved most: {names[3]} {averages[11] + 0.01:.2f} → {averages[3]:.2f}." in said
    back = replace(swapped, before=swapped.after, after=swapped.before, date="2026-03-08T10:00:04Z")
    assert "Averages that moved most" not in _board_after(back, swapped)
    assert "in another order" in _board_after(change(3, replace(rows[3], average=averages[9] + 0.01), rows[3]))
    assert "the board was empty before." in _board_after(*(change(place, None, row) for place, row in enumerate(rows)))
    older = change(0, None, rows[0], day="01")
    assert "The first ten did not change." in _board_after(change(11, None, rows[11]), older)


def test_a_change_names_the_scores_that_moved_most_and_its_commit() -> None:
    after, *others = generated(3)
    off = (0.5, -3.0, 0.0, 2.0, 0.25, -1.0)
    tasks = tuple(replace(task, score=(task.score or 0.0) - by) for task, by in zip(after.tasks, off, strict=True))
    change = change_of(replace(after, average=20.0, tasks=tasks), after, "2026-03-04T10:00:00Z")
    assert change is not None
    made = replace(change, reason="Measure again", commit="0123abc" + "d" * 33)
    site = Site(PageContent(board_of_rows((after, *others)), "github://acme/board", history=(made,)))
    page = found(site["changes.html"])
    names, ends = [task.title for task in after.tasks], [task.score or 0.0 for task in after.tasks]
    moved = ", ".join(f"{names[i]} {ends[i] - off[i]:.2f} → {ends[i]:.2f}" for i in (1, 3, 5))
    assert page.tables[-1][1][-1] == f"Measure again (commit 0123abc): {moved} and 2 more scores."
    assert f"https://github.com/acme/board/commit/{made.commit}" in page.links
    assert f"{moved} and 2 more scores." in found(site[row_page(site.content.names[after.key])]).text


@pytest.mark.parametrize(
    ("target", "reason", "address"),
    [
        (
            "hf://datasets/acme/board",
            "Add acme/atlas-7b (#12)",
            "https://huggingface.co/datasets/acme/board/discussions/12",
        ),
        ("github://acme/board", "Merge pull request #7 from acme/results", "https://github.com/acme/board/pull/7"),
        ("hf://datasets/acme/board", "Add acme/atlas-7b, as #12 asks", ""),
        ("somewhere/board", "Add acme/atlas-7b (#12)", ""),
    ],
)
def test_a_change_leads_to_the_request_that_made_it(target: str, reason: str, address: str) -> None:
    rows = generated(3)
    made = replace(additions(rows)[0], reason=reason, commit="f" * 40)
    site = Site(PageContent(board_of_rows(rows), target, history=(made,)))
    name = site.content.names[made.key]
    for path in (f"rows/{name}.html", "changes.html"):
        links = [link for link in found(site[path]).links if "discussions" in link or "/pull/" in link]
        assert links == ([address] if address else []), path


def places(value: object, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Each place in a JSON value, of lists the first three."""
    yield place
    inside = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, one in inside:
        yield from places(one, (*place, key))


ODD: tuple[object, ...] = (
    None,
    "",
    [],
    {},
    0,
    -1,
    1e308,
    -1e308,
    True,
    "x",
    "1/0",
    "../..",
    "9" * 400,
    [None],
    {"a": 1},
    1.5,
    2**70,
)


@pytest.mark.parametrize("share", [150, pytest.param(30, marks=SLOW), pytest.param(1, marks=pytest.mark.campaign)])
def test_an_entry_in_which_a_stranger_changed_one_value_is_refused_or_shown(share: int) -> None:
    first, sound, last = generated(3)
    changed = list(itertools.product([place for place in places(json.loads(sound.to_bytes())) if place], ODD))
    built = 0
    for place, value in random.Random(0).sample(changed, len(changed) // share):
        data = json.loads(sound.to_bytes())
        *outer, name = place
        reduce(getitem, outer, data)[name] = value
        try:
            entry = parse_entry(json.dumps(data).encode())
        except MalformedEntry:
            continue
        if entry.leaderboard.id == sound.leaderboard.id:  # a board takes no others
            site = site_of((first, entry, last))
            assert [site[path] for path in site][-1], (place, value)
            built += 1
    assert built > len(changed) // share // 10


def test_a_whole_number_beyond_64_bits_is_shown() -> None:
    first, entry, last = generated(3)
    shots = dict.fromkeys(entry.num_fewshot, 2**70)
    site = site_of((first, replace(entry, num_fewshot=shots), last))
    assert str(2**70) in text(site, row_page(site.content.names[entry.key]))
    assert site["compare-data.js"]


def test_a_score_of_which_the_entry_names_no_subtask_is_shown_as_that() -> None:
    first, entry, last = generated(3)
    bare = replace(entry, tasks=(replace(entry.tasks[0], leaves=()), *entry.tasks[1:]))
    site = site_of((first, bare, last))
    assert ", of which the entry names no subtask." in text(site, row_page(site.content.names[bare.key]))


def test_equal_scores_share_a_place_on_the_page_of_a_column() -> None:
    rows = generated(12)
    task = rows[0].tasks[0].id
    best = max(rows, key=lambda row: row.tasks[0].score or 0.0)
    others = [replace(rows[0], tasks=best.tasks) if row is rows[0] else row for row in rows]
    page = found(site_of(tuple(others))[column_page(task)])
    assert [line[0] for line in page.tables[0][1:4]] == ["1", "1", "3"]
    assert "The best 10 of 12 rows. The board sorted by this column" in page.text


def test_a_warning_of_every_row_stands_below_its_scores_and_in_no_box() -> None:
    common, own = Remark("older-scorer-version", "an older version"), Remark("implausibly-low", "MATH is 0")
    first, *rest = (replace(row, warnings=(common,)) for row in generated(6))
    site = site_of((replace(first, warnings=(common, own)), *rest))
    for entry, said in ((first, "1 warning about this row"), (rest[0], "")):
        page = found(site[row_page(site.content.names[entry.key])]).text
        shared = "Every row of this board has this warning: The task was scored by an older scorer"
        assert page.index("Every score") < page.index(shared)
        assert said in page
        assert bool(said) == ("about this row" in page)


def test_a_board_over_groups_says_how_its_average_is_made_and_has_raw_values_of_all_tasks() -> None:
    content = site_of_groups().content
    board = content.board.leaderboard
    over = board.average.model_copy(update={"over": "groups"})
    tasks = tuple(task.model_copy(update={"lower_bound": Fraction(1, 4)}) for task in board.tasks)
    made = make_board(
        [row.entry for row in content.board.rows], board.model_copy(update={"average": over, "tasks": tasks})
    )
    site = Site(PageContent(made))
    assert "mean of the 4 groups, each the mean of its tasks: a task of Retrieval counts 1/4 × 1/5 of it." in text(
        site, "scores.html"
    )
    assert "plain mean of the 14 columns" in text(site_of_groups(), "scores.html")
    shown = [row for table in found(site["raw.html"]).tables for row in table[1:]]
    for line, row in zip(shown, made.rows, strict=True):
        assert line[3 : 3 + len(row.entry.tasks)] == [str(half_up(task.raw or 0.0, 4)) for task in row.entry.tasks]
    assert "groups" not in text(site, "raw.html")


def test_a_reason_of_bounds_that_ends_with_a_period_has_one() -> None:
    board = declared()
    tasks = tuple(task.model_copy(update={"bound_reason": "Guessing."}) for task in board.tasks)
    page = text(Site(PageContent(make_board(generated(2), board.model_copy(update={"tasks": tasks})))), "scores.html")
    assert ": Guessing" in page
    assert ".." not in page
