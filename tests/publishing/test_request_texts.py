"""The texts of requests and comments, as a person reads them."""

from __future__ import annotations

import msgspec
import pytest
from markdown_it import MarkdownIt

from bot.evaluation.result import HarnessVersion
from bot.publishing.entry import Remark, declaration_path
from bot.publishing.publication import (
    Marker,
    PostText,
    entry_marker,
    find_marker,
)
from bot.publishing.repeat import LATER
from bot.publishing.texts import FILES, FOOT, request_text, rolling_text, row_text, withdrawn_text
from tests.platforms.git.publisher import entry
from tests.publishing.tables import boards
from tests.publishing.test_publication import MARK, PATH

EQUAL = "The row before and the new row are not separable: they are equal in the one task that both have (± 12.55)"


def test_the_text_of_a_new_row() -> None:
    row = entry()

    assert request_text(row, None, entry_marker(row)) == PostText(
        "Add acme/atlas-7b (bfloat16): 58.33",
        f"""\
[`acme/atlas-7b`](https://huggingface.co/acme/atlas-7b/tree/{row.model.revision}), revision \
`{row.model.revision}`, on `tiny`.

| Task | Raw | Score ± 95 % |
| --- | ---: | ---: |
| Sums | 0.5500 | 46.67 ± 8.15 |
| Logic | 0.7000 | 70.00 ± 9.03 |
| **Average** | | **58.33 ± 6.08** |

- Rests on **file**: the numbers are those of a result file. That does not show that a run wrote the file.
- File: `acme__atlas-7b/results_2026-11-01T10-00-00.json`, SHA-256 `{row.evidence[0].sha256}`, \
`lm-evaluation-harness` `abcdef12`, dated 2026-10-31T22:40:00Z
- Check it: `leaderboard-bot explain acme__atlas-7b/results_2026-11-01T10-00-00.json --leaderboard \
{declaration_path(row.leaderboard.digest)}`
  {LATER}

**Merge** this to add the row to the board. **Close** it to decline: these numbers of these files are not proposed \
again, others are.

[leaderboard-bot](https://github.com/leaderboard-bot/leaderboard-bot) wrote this for whoever runs this account, \
and edits it when the result files change \
([how to stop it](https://github.com/leaderboard-bot/leaderboard-bot/blob/main/docs/hub.md#when-it-should-stop)).

<!-- leaderboard-bot {{"key": "{row.key}", "kind": "entry", "leaderboard": "tiny"}} -->""",
    )


def test_the_text_of_a_row_that_changes_with_a_warning_and_a_hole() -> None:
    before = entry()
    row = msgspec.structs.replace(
        entry(day=2, right=(50, None, 70)),
        warnings=(Remark("quantized-run", "the model was run in 4bit"),),
    )
    title, body = (text := request_text(row, before, entry_marker(row))).title, text.body

    assert title == "Update acme/atlas-7b (bfloat16): incomplete, 1 of 3 subtasks missing"
    assert body.split("\n\n")[1:5] == [
        """\
| Task | Raw | Score ± 95 % | Before | Change |
| --- | ---: | ---: | ---: | ---: |
| Sums | – | – | 46.67 | – |
| Logic | 0.7000 | 70.00 ± 9.03 | 70.00 | +0.00 |
| **Average** | | **–** | 58.33 | – |""",
        f"{EQUAL}; this comparison would often miss a difference below 17.94 points.",
        "**Incomplete:** `sums_times` missing. The row has no average and no rank until nothing is missing.",
        "- **warning** `quantized-run`: `the model was run in 4bit`",
    ]


def test_a_comment_holds_the_row_to_be_copied() -> None:
    row = entry()
    body = row_text(row, None, entry_marker(row)).body
    (fence,) = [token for token in MarkdownIt().parse(body) if token.type == "fence"]

    assert fence.content.encode() == row.to_bytes()
    assert "<details><summary>The row as JSON</summary>\n\n```json\n" in body
    assert f"```\n\n</details>\n\n{FOOT}\n\n" in body
    assert find_marker(body) == entry_marker(row)


def test_the_texts_of_many_rows_and_of_one_that_goes() -> None:
    rolling = rolling_text(
        [(None, entry()), (None, entry("acme/borea-7b", right=(50, None, 70)))], Marker("rolling", "all", "tiny")
    )
    assert rolling.title == "Add 2 rows of tiny"
    assert "/acme/atlas-7b) | 58.33 ± 6.08 | `" in rolling.body
    assert "/acme/borea-7b) | – | `" in rolling.body

    assert withdrawn_text(PATH, MARK).title == "Remove tiny/acme/atlas-7b/0-bfloat16"
    assert withdrawn_text(PATH, MARK).body.startswith(f"No submission makes `{PATH}` any more.\n\n[leaderboard-bot]")


@pytest.mark.parametrize("name", ["checkpoints/dpo", "outputs/run1", "data/x", "a--b/c", "acme/atlas.git", "Opus 5"])
def test_a_name_that_is_a_path_or_no_id_is_no_link(name: str) -> None:
    known = entry()
    named = msgspec.structs.replace(known, model=msgspec.structs.replace(known.model, id=name))
    assert f"https://huggingface.co/{name}" not in request_text(named, None, MARK).body
    assert f"| `{name}` |" in rolling_text([(None, named)], MARK).body


def test_what_nobody_knows_of_a_row_is_said_to_be_unknown() -> None:
    known = entry()
    file = msgspec.structs.replace(known.evidence[0], date=None, harness=HarnessVersion("lighteval"))
    model = msgspec.structs.replace(known.model, revision="", precision="", chat_template=True)
    text = request_text(msgspec.structs.replace(known, model=model, evidence=(file,)), None, MARK)

    assert text.title == "Add acme/atlas-7b (unknown precision, chat template): 58.33"
    assert text.body.startswith(
        "[`acme/atlas-7b`](https://huggingface.co/acme/atlas-7b), revision `unknown`, on `tiny`."
    )
    assert f"SHA-256 `{file.sha256}`, `lighteval` `version unknown`\n- Check it" in text.body


def test_a_file_of_the_folder_above_is_named_without_its_source() -> None:
    """`in ..` says nothing to who reads the request."""
    known = entry()
    (file,) = (msgspec.structs.replace(one, source="..", commit="c" * 40) for one in known.evidence)
    body = request_text(msgspec.structs.replace(known, evidence=(file,)), None, MARK, target="..").body
    assert f"- File: `{file.path}` at `{'c' * 40}`, SHA-256 `{file.sha256}`, " in body


def test_a_file_is_named_with_its_source_and_commit() -> None:
    known = entry()
    (file,) = (
        msgspec.structs.replace(one, source="hf://datasets/acme/results", commit="c" * 40) for one in known.evidence
    )
    target = "hf://datasets/acme/board"
    body = request_text(msgspec.structs.replace(known, evidence=(file,)), None, MARK, target=target).body

    page = f"https://huggingface.co/datasets/acme/results/blob/{file.commit}/{file.path}"
    assert (
        f"- File: [`{file.path}`]({page}) in `hf://datasets/acme/results` at `{'c' * 40}`, SHA-256 `{file.sha256}`, "
        in body
    )
    assert (
        f"\n  {LATER}\n\n**Merge** this to add the row to [the board](https://huggingface.co/datasets/acme/board)."
        in body
    )
    commit = request_text(known, None, MARK, is_commit=True).body
    assert f"\n  {LATER}\n\n{FOOT}" in commit
    shipped = request_text(boards.entry(), None, MARK).body
    assert " --leaderboard open-llm-v2`\n\n**Merge**" in shipped


def test_of_very_many_files_and_gaps_the_first_are_named() -> None:
    def body_of(files: int, gaps: int) -> str:
        known = entry(right=(50, None, 70))
        missing = tuple(f"leaf_{number}" for number in range(gaps))
        coverage = msgspec.structs.replace(known.coverage, missing=missing)
        return request_text(
            msgspec.structs.replace(known, evidence=known.evidence[:1] * files, coverage=coverage), None, MARK
        ).body

    few, many = body_of(FILES, 10), body_of(FILES + 3, 12)
    ten = ", ".join(f"`leaf_{number}`" for number in range(10))
    assert (few.count("- File: "), many.count("- File: ")) == (FILES, FILES)
    assert "more files" not in few
    assert "\n- and 3 more files, which the entry names\n" in many
    assert f"**Incomplete:** {ten} missing. " in few
    assert f"**Incomplete:** {ten} and 2 more missing. " in many
    assert " and 1 more missing. " in body_of(1, 11)


def test_a_row_that_somebody_else_submitted_first_says_so_before_all_else() -> None:
    row, before = entry(), entry(right=(1, 2, 3))
    plain, text = request_text(row, before, MARK), request_text(row, before, MARK, first="zoe/a")

    assert text.title == f"{plain.title}, first submitted in zoe/a"
    assert text.body == (
        "**This row was first submitted in `zoe/a`, from other files than those of this change.** "
        f"Merge it only if both measure the same model.\n\n{plain.body}"
    )
