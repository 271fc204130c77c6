"""The alarm for a column that does not follow the rest: synthetic boards, real boards, bad tables."""

from __future__ import annotations

import json
import tracemalloc
from functools import reduce
from math import fsum
from operator import add
from pathlib import Path
from random import Random
from statistics import fmean

import pytest
from typer.testing import CliRunner, Result

from bot.audits.board.audit import CONSTANT, FLOOR, NO_RELATION, BoardAudit, RowMeans, audit_board, tenths
from bot.audits.board.report import board_markdown
from bot.audits.score_table import PublishedTable, read_score_table
from bot.cli.audits import audit
from bot.errors import CallError
from tests.audits.board.boards import board, floored, sound

HEAD = "model,a,b,c\n"


def call(*arguments: object) -> Result:
    return CliRunner().invoke(audit, ["board", *map(str, arguments)])


def real(reference: Path, name: str, *only: str) -> BoardAudit:
    return audit_board(read_score_table((reference / name).read_bytes(), name, only))


def kinds(found: BoardAudit) -> dict[str, list[str]]:
    return {column.column: [alarm.kind for alarm in column.alarms] for column in found.columns if column.alarms}


@pytest.mark.parametrize("seed", range(20))
def test_a_floor_irrespective_of_strength_is_named_and_nothing_else(seed: int) -> None:
    random = Random(seed)
    columns = sound(500, random)
    broken = random.randrange(6)
    columns[broken] = floored(columns, random.uniform(0.3, 0.6), random)
    alarms = kinds(audit_board(board(columns)))
    assert set(alarms) == {f"c{broken}"}
    assert alarms[f"c{broken}"][0] == FLOOR


@pytest.mark.parametrize("seed", range(20))
def test_sound_columns_of_all_shapes_raise_no_alarm(seed: int) -> None:
    assert kinds(audit_board(board(sound(500, Random(seed), columns=8)))) == {}


def test_a_column_of_noise_is_named_for_having_no_relation() -> None:
    random = Random(1)
    columns = sound(300, random)
    columns[2] = [random.uniform(0, 60) for _ in range(300)]
    assert kinds(audit_board(board(columns))) == {"c2": [NO_RELATION]}


def test_a_column_that_falls_where_the_rest_rises_is_named() -> None:
    columns = sound(300, Random(2))
    columns[0] = [100 - value for value in columns[1]]
    audit = audit_board(board(columns))
    assert kinds(audit) == {"c0": [NO_RELATION]}
    report = board_markdown(audit, "board.csv")
    assert "c0: it falls where the rest rises, with a rank correlation of -0." in report
    assert "if lower is better there, as of a loss or a rank, leave it out by naming the scores with --column" in report


@pytest.mark.parametrize(("last", "said"), [(0.0, "m19 stays first"), (-200.0, "m19 is first instead of m18")])
def test_the_report_says_whether_another_row_is_first(last: float, said: str) -> None:
    """The Open LLM Leaderboard of September 2023 kept its first row without the broken column."""
    names = tuple(f"m{i}" for i in range(20))
    values = tuple(float(i) for i in range(20))
    odd = (*reversed(values[1:]), last)
    audit = audit_board(PublishedTable(names, {"a": values, "b": values, "c": values, "d": odd}))
    assert audit.named == ("d",)
    assert f"; {said}." in board_markdown(audit, "board.csv")


def test_a_column_of_one_value_is_named() -> None:
    columns = sound(100, Random(3))
    columns[5] = [7.5] * 100
    assert kinds(audit_board(board(columns))) == {"c5": [CONSTANT]}


def test_two_broken_columns_are_both_named() -> None:
    random = Random(4)
    columns = sound(500, random, columns=8)
    columns[1] = floored(columns, 0.5, random)
    columns[6] = [random.uniform(0, 60) for _ in range(500)]
    assert kinds(audit_board(board(columns))) == {"c1": [FLOOR, NO_RELATION], "c6": [NO_RELATION]}


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("rows", "most_false", "fewest_found"), [(53, 0.035, 0.98), (100, 0.02, 0.98), (500, 0.001, 1.0)]
)
def test_how_often_the_alarm_errs(rows: int, most_false: float, fewest_found: float) -> None:
    boards = 100 if rows < 500 else 15
    random = Random(rows)
    false = found = 0
    for _ in range(boards):
        columns = sound(rows, random)
        false += len(audit_board(board(columns)).named)
        columns[0] = floored(columns, random.uniform(0.3, 0.6), random)
        found += "c0" in audit_board(board(columns)).named
    assert false / boards / 6 <= most_false
    assert found / boards >= fewest_found


def test_the_board_is_shown_with_and_without_what_is_named() -> None:
    names = tuple(f"m{i}" for i in range(20))
    values = tuple(float(i) for i in range(20))
    found = audit_board(PublishedTable(names, {"a": values, "b": values, "c": values, "d": tuple(reversed(values))}))
    assert found.named == ("d",)
    assert found.with_and_without is not None
    assert (found.with_and_without.mean_with, found.with_and_without.mean_without) == (9.5, 9.5)
    assert found.with_and_without.first_without == "m19"
    last = next(row for row in found.moved if row.name == "m19")
    assert (last.average_with, last.average_without, last.rank_without) == (14.25, 19, 1)
    assert found.points["d"][0] == ("m0", 0.0, 19.0)


def test_rows_that_miss_a_value_take_no_part_and_sparse_columns_are_left_out() -> None:
    values: list[float | None] = [float(i) for i in range(30)]
    sparse = tuple(None if i % 3 else value for i, value in enumerate(values))
    columns = {"a": tuple(values), "b": tuple(values), "c": (None, *values[1:]), "d": sparse}
    found = audit_board(PublishedTable(tuple(map(str, values)), columns))
    assert (found.rows, found.incomplete) == (29, 1)
    assert found.left_out == {"d": "only 10 of 30 rows have it"}


@pytest.mark.parametrize(
    ("rows", "columns", "why"),
    [(19, 6, "19 complete rows"), (50, 2, "with 2 columns of scores")],
)
def test_a_board_that_is_too_small_is_not_judged(rows: int, columns: int, why: str) -> None:
    found = audit_board(board(sound(rows, Random(5), columns)))
    assert found.named == ()
    assert found.silent.startswith(why)


def test_what_is_judged_is_bounded_in_cells() -> None:
    values = tuple(map(float, range(250_001)))
    found = audit_board(PublishedTable(tuple(map(str, values)), dict.fromkeys("abcd", values)))
    assert found.silent == "4 columns of 250,001 rows: at most 1,000,000 scores are judged; name some with --column"


def test_means_without_columns_are_those_of_the_columns_that_are_left_to_the_last_bit() -> None:
    random = Random(3)
    columns = {name: tuple(random.choice((random.random(), 63.81, 1e-9, 0.0)) for _ in range(50)) for name in "abcde"}
    means = RowMeans(columns)
    assert means.without() == [fsum(row) / 5 for row in zip(*columns.values(), strict=True)]
    kept = [columns[name] for name in "ace"]
    assert means.without("b", "d") == [fsum(row) / 3 for row in zip(*kept, strict=True)]
    means.leave_out("b")
    assert means.without("d") == [fsum(row) / 3 for row in zip(*kept, strict=True)]


def test_a_cell_next_to_nothing_makes_no_sum_larger() -> None:
    columns = {str(number): tuple(63.81 + row / 100 for row in range(500)) for number in range(20)}
    tiny = {**columns, "0": (5e-324, *columns["0"][1:])}
    nothing = {**columns, "0": (0.0, *columns["0"][1:])}
    assert RowMeans(tiny).without() == RowMeans(nothing).without()
    sizes = []
    for one in (nothing, tiny):
        tracemalloc.start()
        kept = RowMeans(one)
        sizes.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        del kept
    assert sizes[1] < 1.1 * sizes[0]


def test_one_odd_row_does_not_move_the_floor() -> None:
    low, high, floor, counts = tenths([0.0, *range(50, 150), 900.0])
    assert (low, high) == (51, 148)
    assert floor == pytest.approx(60.7)
    assert counts == (12, 10, 80)


def test_drop_of_november_2023_is_named_and_only_drop(reference: Path) -> None:
    found = real(reference, "openllm_v1/v1_drop_modelcards_nov2023.csv")
    assert found.rows == 53
    assert kinds(found) == {"DROP": [FLOOR]}
    assert found.with_and_without is not None
    assert round(found.with_and_without.mean_with, 2) == 48.36
    assert round(found.with_and_without.mean_without, 2) == 52.85
    moved = found.moved[0]
    assert (moved.name, moved.rank_with, moved.rank_without) == ("ehartford/samantha-1.2-mistral-7b", 20, 8)


@pytest.mark.parametrize("name", ["openllm_v1/v1_archive_sample.csv", "openllm_v2/published_scores.csv"])
def test_boards_without_drop_raise_no_alarm(reference: Path, name: str) -> None:
    found = real(reference, name)
    assert (found.rows, len(found.columns), found.silent) == (1500, 6, "")
    assert found.named == ()


def test_raw_values_and_all_subtasks_raise_no_alarm(reference: Path) -> None:
    raw = ("IFEval Raw", "BBH Raw", "MATH Lvl 5 Raw", "GPQA Raw", "MUSR Raw", "MMLU-PRO Raw")
    assert real(reference, "openllm_v2/published_scores.csv", *raw).named == ()


def test_score_columns_are_told_by_header_and_values() -> None:
    data = (
        "\ufeffRank;Model;Average ⬆️;BBH;BBH Raw;#Params (B);Elo;bbh_tracking_seven_objects;acc_stderr;Type;note\n"
        "1;a/b;50;50%;.5;7;1000;1;0.1;chat;\n2;c/d;40;;.4;7;900;2;0.1;base;\n"
    )
    read = read_score_table(data.encode(), "x.csv")
    assert read.names == ("a/b", "c/d")
    assert read.columns == {"BBH": (50.0, None), "bbh_tracking_seven_objects": (1.0, 2.0)}
    assert set(read_score_table(b"model,Mean (GPT-4),Mean rank gain\na,5.5,1.5\n", "x.csv").columns) == {
        "Mean rank gain"
    }
    assert read.left_out["Elo"] == "has values outside 0 to 100"
    assert set(read.left_out) == {
        "Rank", "Model", "Average ⬆️", "BBH Raw", "#Params (B)", "Elo", "acc_stderr", "Type", "note",
    }  # fmt: skip


def test_sizes_ranks_costs_times_and_differences_are_no_scores() -> None:
    """As Open LLM Leaderboard reports, ScandEval, BFCL, AlpacaEval, timm, Arena-Hard and Julia boards name them."""
    others = (
        "Parameters",
        "da_rank",
        "Cost ($ Per 1k Function Calls)",
        "Latency Mean (s)",
        "Latency 95% (s)",
        "lc_standard_error",
        "Price [$/1000 examples]",
        "top1_diff",
        "Δ MMLU",
        "rating_q025",
        "rating_upper",
        "Point Per Second",
        "tok/s",
        "input_cost_per_token",
        "latency_ms",
        "± 95%",
        "MMLU ±",
    )
    scores = ("ARC(25-shot)", "Multi Turn Long Context", "costello", "ranked_choice", "DiffAware")
    header = ",".join(("Model", *others, *scores))
    data = f"{header}\na,{','.join(['7.5'] * 22)}\nb,{','.join(['3.5'] * 22)}\n"
    read = read_score_table(data.encode(), "x.csv")
    assert set(read.columns) == set(scores)
    assert {read.left_out[name] for name in others} == {"is not a score by its name"}


def test_a_count_is_told_from_a_benchmark_by_its_values() -> None:
    """The first is of mlfoundations/open_clip `89fb801f`, others of svilupp/Julia-LLM-Leaderboard `7b7a408c`."""
    header = "Model,CLEVR Counts,AverageScore,Zero Counts,Elapsed Median,Score Std Deviation,param_count"
    read = read_score_table(f"{header}\na,0.3596,85.8,13,6.3,21.1,30.5\n".encode(), "x.csv")
    assert list(read.columns) == ["CLEVR Counts", "AverageScore"]
    assert set(read.left_out.values()) == {"holds text", "is not a score by its name"}


def test_the_ranks_of_a_table_say_that_less_is_better() -> None:
    """Six rows of README.md of lechmazur/confabulations `734d5fab`; no heading says that these are errors."""
    text = """|Rank|Model|Confab %|Non-Resp %|Weighted|
|--:|--|--:|--:|--:|
|1|GPT-5 (medium reasoning)|10.9|9.8|10.34|
|2|Gemini 2.5 Pro Preview 05-06|5.9|15.3|10.62|
|3|Grok 3 Mini Beta (high)|6.9|14.7|10.80|
|4|Gemini 2.5 Pro Exp 03-25|4.0|17.6|10.80|
|5|GLM-4.5|7.9|14.7|11.30|
|6|o1 (medium reasoning)|10.9|12.6|11.74|
"""
    read = read_score_table(text.encode(), "README.md")
    assert (read.less_is_better, len(read.columns)) == (True, 3)
    turned = text.replace("|Rank|", "|Row|")
    assert not read_score_table(turned.encode(), "README.md").less_is_better
    falling = "rank,model,ALL,arc,bbh\n1,a,8,9,8\n2,b,7,8,8\n3,c,3,4,3\n"
    read = read_score_table(falling.encode(), "x.csv")
    assert (read.less_is_better, read.left_out["ALL"]) == (False, "is an average or a total")


def test_a_column_without_a_cell_is_called_empty() -> None:
    """Like leaderboard.csv of a board whose rows all lack one task."""
    read = read_score_table(b"model,revision,arc\na,,7.5\nb,,3.5\n", "x.csv")
    assert read.left_out == {"model": "holds text", "revision": "is empty"}


def test_an_error_in_a_cell_is_no_part_of_the_value() -> None:
    """examples/perplexity/README.md of ggerganov/llama.cpp `c392e509`."""
    data = b"|Q|Model size [GiB]|PPL|KLD|\n|--|--|--|--|\n|q8_0|7.96|6.234284 \xc2\xb1   0.037878|0.5|\n"
    assert read_score_table(data, "README.md", ("PPL",)).columns == {"PPL": (6.234284,)}
    assert read_score_table(data, "README.md").left_out["Model size [GiB]"] == "is not a score by its name"


def test_a_heading_may_name_the_error_that_follows_each_value() -> None:
    """README.md of JoelNiklaus/evaluate-idk: the errors are in the cells, so the columns are scores."""
    data = "| Model | trad_score ± se | Avg ± SD |\n|--|--|--|\n| ensemble-top3 | 86.36 ± 2.44 | 75.25 ± 4.54 |\n"
    read = read_score_table(data.encode(), "README.md")
    assert read.columns == {"trad_score ± se": (86.36,)}
    assert read.left_out["Avg ± SD"] == "is an average or a total"


def test_an_average_is_told_in_chinese_and_japanese_too() -> None:
    """As README.md of haonan-li/CMMLU, CLUEbenchmark/SuperCLUE and yuzu-ai/japanese-llm-ranking call it."""
    headings = ("平均分", "平均", "总分", "总平均", "總分", "平均スコア")
    data = f"模型,STEM,{','.join(headings)}\na,7.5{',5.5' * 6}\n"
    read = read_score_table(data.encode(), "x.csv")
    assert list(read.columns) == ["STEM"]
    assert {read.left_out[name] for name in headings} == {"is an average or a total"}


MARKDOWN = """# Results

| key | value |
| --- | --- |
| shots | 5 |
| chat template | none |
| judge | none |

| Model | `BBH` | **GPQA** | link |
| :--- | ---: | ---: | --- |
| [a/b](https://example.org) | **50.5** | 31.25% | [x](y) |
| c/d | 40.25 | | z |
"""


def test_the_table_with_the_most_numbers_of_a_markdown_file_is_read() -> None:
    alone = MARKDOWN.partition("none |\n\n")[2]
    place = "of 2 tables the one with the most numbers, at line 9"
    places = {"README.md": (MARKDOWN, place), "table.txt": (alone, "")}
    for name, (text, place) in places.items():
        read = read_score_table(text.encode(), name)
        assert read.place == place
        assert read.names == ("a/b", "c/d")
        assert read.columns == {"BBH": (50.5, 40.25), "GPQA": (31.25, None)}
        assert read.left_out == {"Model": "holds text", "link": "holds text"}
    with pytest.raises(CallError, match="is not a table"):
        read_score_table(b"# No table here", "README.md")


def test_the_table_of_several_that_is_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(MARKDOWN)
    done = CliRunner().invoke(audit, ["board", str(tmp_path / "README.md")])
    assert done.stderr == f"{tmp_path / 'README.md'}: of 2 tables the one with the most numbers, at line 9\n"


def test_a_table_with_a_row_for_each_task_is_refused() -> None:
    """Like README.md of openlm-research/open_llama `6e7f73ea`, whose columns are models."""
    data = b"| Task/Metric | A 7B | B 7B |\n| --- | --- | --- |\n| arc/acc | 0.30 | 0.40 |\n| Average | 0.50 | 0.60 |\n"
    with pytest.raises(CallError, match=r"its rows are tasks, by the heading 'Task/Metric'; a row for each model"):
        read_score_table(data, "README.md")
    assert read_score_table(data.replace(b"Task/Metric", b""), "README.md").names == ("arc/acc", "Average")


def test_a_total_is_no_column_beside_those_that_it_is_made_of() -> None:
    """As in Nejumi4_result_20280826.csv of wandb/llm-leaderboard `6e29db4`, BFCL, and others."""
    totals = ("TOTAL_SCORE", "Overall", "Overall Acc", "overall_accuracy", "Total", "Average", "AVG.")
    data = f"model,{','.join(totals)},GLP_翻訳,Total Recall,overalls\na,{','.join(['0.5'] * 10)}\n"
    read = read_score_table(data.encode(), "x.csv")
    assert set(read.columns) == {"GLP_翻訳", "Total Recall", "overalls"}
    assert {read.left_out[name] for name in totals} == {"is an average or a total"}


def test_errors_beside_scores_are_left_out() -> None:
    """Rows of README.md of vectara/hallucination-leaderboard `2e098591`; the two rates add up to 100."""
    data = (
        b"|Model|Hallucination Rate|Factual Consistency Rate|Answer Rate|Average Summary Length (Words)|\n"
        b"|----|----:|----:|----:|----:|\n"
        b"|antgroup/finix_s1_32b|1.8 %|98.2 %|99.5 %|172.4|\n|microsoft/Phi-4|3.7 %|96.3 %|80.7 %|120.9|\n"
    )
    read = read_score_table(data, "README.md")
    assert (list(read.columns), read.less_is_better) == (["Factual Consistency Rate", "Answer Rate"], False)
    assert read.left_out["Hallucination Rate"] == "less is better, by its name"
    assert read.left_out["Average Summary Length (Words)"] == "is an average or a total"
    with pytest.raises(CallError, match="less is better in Hallucination Rate, and more in Answer Rate: name columns"):
        read_score_table(data, "README.md", ("Hallucination Rate", "Answer Rate"))


def test_a_board_of_errors_is_judged_the_other_way_round() -> None:
    """The first two rows are those of space/leaderboard.json of Rye-A1/danish-asr-leaderboard `ab7c4212`."""
    rows = ["syvai/hviske-v5,25.43,15.57,7.45,10.18", "syvai/hviske-v5.3,19.73,9.76,23.58,10.54"]
    rows += [f"m{i},{30 + 5 * i},{20 + 4 * i},{26 + 6 * i % 90},{90 if i % 2 else 12}" for i in range(28)]
    header = "name,coral_conversation_wer,coral_read_aloud_wer,ftspeech_wer,cv17_da_wer"
    read = read_score_table("\n".join([header, *rows]).encode(), "x.csv")
    assert (len(read.columns), read.less_is_better) == (4, True)  # a word error rate can be above 100
    found = audit_board(read)
    assert (found.named, found.less_is_better) == (("cv17_da_wer",), True)
    assert found.with_and_without is not None
    assert found.with_and_without.first_without == "syvai/hviske-v5"
    assert "Less is better in them: they are judged, and shown, with a minus." in board_markdown(found, "x.csv")


@pytest.mark.parametrize(
    "heading",
    ["MASE", "eval_metrics/MASE[0.5]", "sMAPE", "NRMSE[mean]", "CRPS", "RTF (Real Time Factor)", "EER (%)", "FID"],
)
def test_an_error_is_told_by_its_heading(heading: str) -> None:
    """Headings of SalesforceAIResearch/gift-eval and TigreGotico/tts-benchmarks."""
    read = read_score_table(f"model,{heading},RTFx,Answer Rate\na,0.5,51.5,0.25\nb,0.75,42.5,0.5\n".encode(), "x.csv")
    assert list(read.columns) == ["RTFx", "Answer Rate"]
    assert read.left_out[heading] == "less is better, by its name"


def test_the_heading_of_the_average_tells_what_the_others_are() -> None:
    """As boards of speech recognition name their columns."""
    read = read_score_table(b"model,Average WER,AMI,Earnings22\na,7.5,11.5,9.5\nb,8.5,12.5,10.5\n", "x.csv")
    assert (list(read.columns), read.less_is_better) == (["AMI", "Earnings22"], True)


def test_a_name_for_each_row_is_no_task() -> None:
    """As `eval_name` and `fullname` of the Open LLM Leaderboard v2, where a model has a row for each precision."""
    data = b"eval_name,fullname,BBH,GPQA\na_bf16,a,1.5,2.5\na_fp16,a,1.6,2.6\nb_bf16,b,3.5,4.5\n"
    assert read_score_table(data, "x.csv").names == ("a (a_bf16)", "a (a_fp16)", "b (b_bf16)")


@pytest.mark.parametrize("part", ["_", "wer(", "a_"])
def test_a_heading_without_end_is_refused_at_once(part: str) -> None:
    with pytest.raises(CallError, match="a heading has more than 1,000 characters"):
        read_score_table(f"model,{part * 30_000}\na,1\nb,2\n".encode(), "x.csv")


def test_scores_beside_raw_values_are_those_of_a_declaration() -> None:
    read = read_score_table(b"model,WER,WER raw\na,90.5,0.095\nb,80.5,0.195\n", "leaderboard.csv")
    assert (list(read.columns), read.less_is_better) == (["WER"], False)


def test_rows_of_one_name_are_told_apart_by_their_texts() -> None:
    """Rows of docs/openclip_results.csv of mlfoundations/open_clip `89fb801f`."""
    data = (
        b"name,pretrained,params (M),FLOPs (B), Average perf. on 38 datasets,ImageNet 1k\n"
        b"ViT-L-14,datacomp_xl_s13b_b90k,42.5,17.5,0.6627,0.7921\nViT-L-14,openai,42.5,17.5,0.6237,0.7554\n"
        b"[CoCa](https://example.org),,63.5,21.5,0.6327,0.7561\n"
    )
    read = read_score_table(data, "x.csv")
    assert read.names == ("ViT-L-14 (datacomp_xl_s13b_b90k)", "ViT-L-14 (openai)", "CoCa")
    assert list(read.columns) == ["ImageNet 1k"]


def test_only_named_columns_are_said_not_to_follow() -> None:
    random = Random(3)
    noise = {f"c{i}": tuple(random.uniform(0, 60) for _ in range(60)) for i in range(3)}
    found = audit_board(PublishedTable(tuple(f"m{i}" for i in range(60)), noise))
    reasons = board_markdown(found, "x.csv").partition("With and without")[0]
    assert [column for column in noise if f"{column}: its rank" in reasons] == list(found.named)


def test_a_table_with_a_row_for_each_model_and_task_is_refused() -> None:
    """Like benchmark/benchmark.csv of LAION-AI/CLIP_benchmark `48de38c1`."""
    data = (
        b"acc1,acc5,dataset,model\n0.0232,0.1152,vtab/dsprites_label_orientation,ViT-L-14\n"
        b"0.4457,0.7585,vtab/dtd,ViT-B-16\n0.7738,0.9362,imagenet-a,ViT-L-14\n"
    )
    with pytest.raises(CallError, match="its rows are models by 'dataset'; a row for each model and a column for each"):
        read_score_table(data, "benchmark.csv")
    alone = b"acc1,acc5,dataset,model\n0.4,0.7,vtab/dtd,ViT-B-16\n0.7,0.9,vtab/dtd,ViT-L-14\n"
    assert read_score_table(alone, "benchmark.csv").names == ("ViT-B-16", "ViT-L-14")


def test_the_separator_is_the_one_that_parts_all_rows_alike() -> None:
    data = b"Model,<b style='font-size: 12px; opacity: 0.6;'>A; B; C</b>,D\na/b,50.5,3.5\nc/d,40.5,2.5\n"
    read = read_score_table(data, "x.csv")
    assert list(read.columns.values()) == [(50.5, 40.5), (3.5, 2.5)]
    assert read_score_table(b"Model;A, B;C\na/b;1.5;2.5\n", "x.csv").columns == {"A, B": (1.5,), "C": (2.5,)}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is not a table"),
        (b"model,a\n", "is not a table"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (HEAD.encode() + b"x,1,2\n", "row 2 has 3 cells and the header 4: mend that row, or leave it out"),
        (b"model,a,a\nx,1,2\n", "2 columns of the header have the name 'a'"),
        # The boards of EuroEval/leaderboards `1a77f1d2` have a line of groups above the header.
        (b'<b style=\'x: 1; y: 2;\'>T</b>,,\nmodel,"a ""b""",c\nx,1,2\n', "2 columns of the header have no name"),
        (HEAD.encode() + b'x,"1,2,3\n', "is not a CSV file"),
        (b'{"results": {}}', "is not a table"),
        (b'{"model": "a", "GPQA": 31.5}\n{"model": "b", "GPQA": 28.5}\n', "is not a table in CSV or Markdown"),
        (b'[{"model": "a", "GPQA": 31.5},\n{"model": "b", "GPQA": 28.5}]', "is not a table in CSV or Markdown"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(data)
    refused = call(path).exception
    assert isinstance(refused, CallError)
    assert why in str(refused)
    assert "\n" not in str(refused)


def test_a_column_that_is_not_there_or_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "leaderboard.csv"
    path.write_text(HEAD + "x,1,2,3\n")
    assert "has no column 'd'" in str(call(path, "--column", "d").exception)
    assert "cannot be read" in str(call(tmp_path / "none.csv").exception)


@pytest.fixture
def broken_board(tmp_path: Path) -> Path:
    random = Random(6)
    columns = sound(100, random)
    columns[3] = floored(columns, 0.4, random)
    lines = [",".join(["model", *(f"c{i}" for i in range(6))])]
    lines += [",".join([f"org/<b>{i}|*", *map(str, row)]) for i, row in enumerate(zip(*columns, strict=True))]
    (tmp_path / "leaderboard.csv").write_text("\n".join(lines))
    return tmp_path


def test_the_command_names_the_column_in_every_form_with_status_1(broken_board: Path) -> None:
    texts = {form: call(broken_board, "--format", form) for form in ("text", "json", "markdown")}
    assert {result.exit_code for result in texts.values()} == {1}
    assert "c3: does not follow the rest." in texts["text"].stdout
    report = json.loads(texts["json"].stdout)
    assert report["schema"] == "leaderboard-bot/audit-board/1"
    assert report["named"] == ["c3"]
    assert len(report["points"]["c3"]) == 100
    assert "<b>" not in texts["markdown"].stdout.replace("`", "") or "`org/<b>" in texts["markdown"].stdout


def test_a_sound_board_has_status_0_and_says_so(tmp_path: Path) -> None:
    lines = ["model,a,b,c", *(f"m{i},{i},{i + 1},{i + 2}" for i in range(30))]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(lines))
    result = call(path)
    assert result.exit_code == 0
    assert "No column stands out" in result.stdout


MEANS = [("a", 10.4, 20.5, 15.4), ("b", 30.1, 40.2, 35.2), ("c", 50.3, 60.4, 55.4), ("d", 70.0, 80.0, 75.0)]


@pytest.mark.parametrize(
    ("cells", "there", "computed"),
    [("12.0,34.0,23.0", None, None), ("12.0,34.0,32.0", 32.0, 23.0), ("17.0,34.0,23.0", 23.0, 25.5)],
)
def test_an_average_that_its_columns_do_not_give_is_named(
    cells: str, there: float | None, computed: float | None
) -> None:
    """A stale average or a wrong digit, as `Avg.` of Qwen2.5-14B-Instruct-1M in README.md of NVIDIA/RULER."""
    rows = "".join(f"{name},{one},{two},{mean}\n" for name, one, two, mean in MEANS)
    found = audit_board(read_score_table(f"model,x,y,Avg.\n{rows}e,{cells}\n".encode(), "board.csv"))
    named = [(one.column, one.row, one.there, one.computed) for one in found.wrong_means]
    assert named == ([] if there is None else [("Avg.", "e", there, computed)])
    assert ("Averages that do not follow" in board_markdown(found, "board.csv")) is bool(named)


def test_an_average_of_doubles_that_was_added_in_another_order_follows() -> None:
    """Like 250 of 1,500 rows of the Open LLM Leaderboard v2, whose numbers have all digits of a double."""
    random = Random(5)
    rows = [[random.uniform(0, 100) for _ in range(6)] for _ in range(60)]
    means = [reduce(add, values) / 6 for values in rows]  # `sum` compensates from Python 3.12 on
    assert any(fmean(values) != mean for values, mean in zip(rows, means, strict=True))
    lines = (
        f"m{i},{mean},{','.join(map(str, values))}\n" for i, (values, mean) in enumerate(zip(rows, means, strict=True))
    )
    table = f"model,Average,a,b,c,d,e,f\n{''.join(lines)}".encode()
    assert read_score_table(table, "board.csv").wrong_means == ()


def test_an_average_by_other_weights_is_not_checked() -> None:
    rows = "".join(f"{name},{one},{two},{one + two / 9:.1f}\n" for name, one, two, _ in MEANS)
    assert read_score_table(f"model,x,y,Avg\n{rows}e,1.5,2.5,9.9\n".encode(), "board.csv").wrong_means == ()


def test_whole_numbers_that_are_written_with_a_point_are_scores() -> None:
    """Like `python` and `typos` of the tables of LiveBench; counts with a gap have a point, too."""
    head, rows = "model,x,y,typos,steps,solved\n", "".join(f"m{i},{i}.5,{i}.25,{2 * i}.0,{i},{i}.0\n" for i in range(9))
    found = read_score_table(f"{head}{rows}m9,9.5,9.25,18.0,9,\n".encode(), "board.csv")
    assert list(found.columns) == ["x", "y", "typos"]
    assert set(found.left_out) == {"model", "steps", "solved"}


def test_a_column_score_beside_others_is_their_total() -> None:
    assert read_score_table(b"model,Score,x,y\na,3.5,1.5,2.0\n", "board.csv").left_out["Score"] == (
        "is an average or a total"
    )


def test_a_floor_of_zeros_says_what_they_may_stand_for() -> None:
    """Like the column of pictures in fit-alessandro-berti/pm-llm-benchmark, 0.0 for each model that sees none."""
    random = Random(3)
    columns = sound(120, random)
    columns[1] = [0.0 if random.random() < 0.4 else value + 20 for value in columns[1]]
    [column] = [column for column in audit_board(board(columns)).columns if column.alarms]
    assert column.column == "c1"
    assert column.alarms[0].why.endswith(f"; {column.zeros} rows have exactly 0, which may stand for a missing value")


def test_names_that_several_rows_have_are_named_unless_a_column_tells_them_apart() -> None:
    rows = "acme/a,50.1,60.2\nacme/b,51.1,61.2\nacme/a,55.1,62.2\n"
    found = audit_board(read_score_table(f"model,mmlu,arc\n{rows}".encode(), "board.csv"))
    assert found.repeated == {"acme/a": 2}
    assert "Names that several rows have" in board_markdown(found, "board.csv")
    told = "model,run,mmlu,arc\nacme/a,first,50.1,60.2\nacme/b,first,51.1,61.2\nacme/a,second,55.1,62.2\n"
    assert audit_board(read_score_table(told.encode(), "board.csv")).repeated == {}


def test_a_column_that_is_the_mean_of_all_others_is_no_task_whatever_it_is_called() -> None:
    draw = Random(7)
    rows = [[round(draw.uniform(10, 90), 2) for _ in range(4)] for _ in range(12)]
    lines = [f"m{at},{','.join(map(str, row))},{fmean(row):.2f}" for at, row in enumerate(rows)]
    read = read_score_table("\n".join(["model,a,b,c,d,OLLM index", *lines]).encode(), "x.csv")
    assert (list(read.columns), read.left_out["OLLM index"]) == (["a", "b", "c", "d"], "is an average or a total")
    other = [line.rpartition(",")[0] + f",{at}.5" for at, line in enumerate(lines)]
    assert "e" in read_score_table("\n".join(["model,a,b,c,d,e", *other]).encode(), "x.csv").columns


def test_a_table_without_headings_keeps_its_first_row() -> None:
    read = read_score_table(b"gpt,96.81,57.98\nllama,85.17,40.2\n", "x.csv")
    assert (read.names, [*read.columns]) == (("gpt", "llama"), ["column 2", "column 3"])
    assert "first line is a row" in read.place
    assert [*read_score_table(b"model,0,5\na,9.5,8.5\n", "x.csv").columns] == ["0", "5"]  # numbers of shots
