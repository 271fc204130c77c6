"""What stands above the columns of a board: groups, titles without what they share, parts that do not break."""

from __future__ import annotations

from bot.evaluation.row_key import owner_and_name
from bot.pages.titles import breakable, heads, in_lines, in_parts, longest_part, without_middle

REASONING = ("boolean_expressions", "navigate", "snarks")


def test_titles_that_begin_with_one_word_are_a_group_and_lose_it() -> None:
    titles = [*(f"leaderboard_bbh_{name}" for name in REASONING), "leaderboard_musr_team", "leaderboard_ifeval"]
    assert heads(titles, [None] * 5) == [
        ("bbh", "boolean expressions"), ("bbh", "navigate"), ("bbh", "snarks"), ("", "musr team"), ("", "ifeval"),
    ]  # fmt: skip


def test_a_group_has_all_words_that_its_titles_share() -> None:
    titles = [*(f"high_school_{name}" for name in ("biology", "physics", "math")), "astronomy"]
    assert heads([*titles, "high_school_law", "astronomy"], [None] * 6)[2:] == [
        ("high school", "math"), ("", "astronomy"), ("", "high school law"), ("", "astronomy"),
    ]  # fmt: skip
    twice = heads([*titles, titles[0]], [None] * 5)
    assert [twice[0], twice[-1]] == [("high school", "biology"), ("", "high school biology")]


def test_a_declared_group_stands_above_its_titles_and_takes_what_they_share() -> None:
    titles = [
        "BEIR ArguAna",
        "BEIR FiQA",
        "BEIR SCIDOCS",
        "STS12",
        *(f"{name}Clustering" for name in ("Arxiv", "Med", "Bio")),
    ]
    assert heads(titles, ["Retrieval"] * 3 + ["STS"] + ["Clustering"] * 3) == [
        ("Retrieval", "ArguAna"), ("Retrieval", "FiQA"), ("Retrieval", "SCIDOCS"), ("STS", "STS12"),
        ("Clustering", "Arxiv"), ("Clustering", "Med"), ("Clustering", "Bio"),
    ]  # fmt: skip


def test_a_board_without_a_common_word_has_no_groups() -> None:
    assert heads(["IFEval", "BBH", "MATH Lvl 5"], [None] * 3) == [("", "IFEval"), ("", "BBH"), ("", "MATH Lvl 5")]


def test_a_title_of_which_only_a_number_would_be_left_stays_whole() -> None:
    titles = [f"Task {place}" for place in range(7)]
    assert heads(titles, [None] * 7) == [("", title) for title in titles]
    assert heads(["MMLU 5a", "MMLU 5b", "MMLU 5c"], [None] * 3) == [("", "5a"), ("", "5b"), ("", "5c")]


def test_a_long_title_loses_whole_parts() -> None:
    assert without_middle("CharlemagneTransubstantiationRetrievalClassificati", 42) == "Charlemagne…Classificati"
    assert without_middle("x" * 50, 42) == f"{'x' * 21}…{'x' * 20}"
    assert without_middle("Short", 42) == "Short"


def test_a_title_breaks_between_its_parts_and_a_long_part_keeps_its_end() -> None:
    assert in_parts("AmazonCounterfactualClassification", 14) == "Amazon<wbr>Counterfactual<wbr>Classification"
    assert in_parts("x" * 40 + "end <b>", 14) == "xxxxxxx…xxxend &lt;b&gt;"
    assert longest_part(["AmazonCounterfactual", "Llama-3.1", "two words"]) == len("Counterfactual")


def test_a_name_breaks_after_the_signs_that_join_its_words_and_in_a_word_too_long_for_a_phone() -> None:
    assert breakable("HuggingFaceTB/SmolLM3-14B") == "HuggingFaceTB/<wbr>SmolLM3-<wbr>14B"
    assert "SmolLM3-<wbr>14B" in in_lines("HuggingFaceTB/SmolLM3-14B")
    assert breakable("AmazonCounterfactual-v2") == "Amazon<wbr>Counterfactual-v2"
    assert breakable("R&D/B-1") == "R&amp;D/<wbr>B-<wbr>1"


def test_the_owner_of_a_model_stands_before_the_first_slash() -> None:
    named = {"evil/<script>x</script>": ("evil", "<script>x</script>"), "a/b/c": ("a", "b/c"), "gpt": ("", "gpt")}
    assert {model: owner_and_name(model) for model in [*named, "/x", "y/"]} == named | {
        "/x": ("", "/x"),
        "y/": ("", "y/"),
    }
    assert "<i>evil<s>/</s></i><span>&lt;script&gt;" in in_lines("evil/<script>x</script>")


def test_a_long_name_loses_its_middle_for_the_eye_and_keeps_its_end() -> None:
    name = "Meta-Llama-3.1-70B-Instruct-abliterated-GGUF-Q4_K_M-dpo-merged-v2.1-final"
    shown = in_lines(f"org/{name}")
    assert shown.replace("<wbr>", "").endswith(
        "Meta-Llama-3.1-70B-<s>Instruct-abliterated-GGUF-Q4_K_M-</s>dpo-merged-v2.1-final</span></bdi>"
    )
    assert "<s>" not in in_lines(name[:44])
