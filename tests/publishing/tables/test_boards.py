"""One row goes into a table of somebody else: nothing but its own letters changes, and the readers see it."""

from __future__ import annotations

from typing import Any

import pytest

from bot.publishing.layout import CellChange
from tests.publishing.tables.boards import JSON, MODEL, YAML, edited, entry, lines_changed
from tests.publishing.tables.readers import BOARDS


def is_insertion(before: bytes, after: bytes) -> bool:
    """Whether the one is the other with a single run of bytes put in."""
    differing = (at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
    rest = before[next(differing, len(before)) :]
    return len(after) > len(before) and after.endswith(rest)


@pytest.mark.parametrize("name", BOARDS)
def test_a_new_row_is_put_in_and_every_other_byte_stays(name: str) -> None:
    mapping, make, read = BOARDS[name]
    files = make()

    after, draft = edited(mapping, files, entry())

    assert draft.refused == {}
    path = mapping["path"]
    assert is_insertion(files[path], after[path])
    old, new = read(files[path]), read(after[path])
    assert len(new) == len(old) + 1
    assert [row for row in new if row in old] == old


@pytest.mark.parametrize("name", BOARDS)
def test_a_row_that_stands_there_is_not_written_again(name: str) -> None:
    mapping, make, _ = BOARDS[name]
    once, _ = edited(mapping, make(), entry())

    twice, draft = edited(mapping, once, entry())

    assert twice == once
    assert draft.files == {}
    assert draft.refused == {}


@pytest.mark.parametrize("name", BOARDS)
def test_a_row_that_changes_keeps_its_place_and_its_other_cells(name: str) -> None:
    mapping, make, read = BOARDS[name]
    path = mapping["path"]
    before, _ = edited(mapping, make(), entry())
    changed = entry(scores={"bbh": 0.25, "gpqa": 0.125}, average=30.0)

    after, draft = edited(mapping, before, changed, on_existing="update")

    assert draft.refused == {}
    assert len(draft.cells[changed.key]) in {1, 2}
    gone, new = lines_changed(before[path], after[path])
    assert 1 <= len(gone) == len(new) <= 2
    old, now = read(before[path]), read(after[path])
    differing = [number for number, row in enumerate(old) if row != now[number]]
    assert len(old) == len(now)
    assert len(differing) == 1


def test_the_lines_of_a_new_row_have_the_form_of_their_neighbours() -> None:
    def new(name: str) -> str:
        mapping, make, _ = BOARDS[name]
        files = make()
        after, _ = edited(mapping, files, entry())
        gone, added = lines_changed(files[mapping["path"]], after[mapping["path"]])
        assert [line for line in gone if line not in "".join(added)] == []
        return "".join(added)

    assert new("bfcl") == ",33.60%,example-org/kestrel-7b,,59.06%,\n"
    assert new("lines") == '{"model": "example-org/kestrel-7b", "acc": 0.5336990825602492, "avg": 33.60379482268062}\n'
    assert new("readme") == (
        "|      | [kestrel-7b](https://huggingface.co/example-org/kestrel-7b) |     53.4 % | bfloat16   |\n"
    )
    assert (
        new("aider")
        == """\

- dirname: kestrel-7b--bfloat16
  test_cases: null
  model: "example-org/kestrel-7b"
  commit_hash: '651099358104a2b2aea7ef80fd8a9035fe2729e8'
  pass_rate_1: 53.4
  percent_cases_well_formed: null
  command: 'aider # see the docs'
  date: 2026-03-03
  versions: null
  total_cost: null
"""
    )


def test_a_file_that_a_serializer_wrote_is_still_one_that_it_would_write() -> None:
    import json

    for name, settings in {"swe-bench": {"indent": 4}, "evalplus": {"indent": 2}}.items():
        mapping, make, _ = BOARDS[name]
        after, _ = edited(mapping, make(), entry())
        data = after[mapping["path"]].decode()
        assert json.dumps(json.loads(data), **settings) == data.rstrip("\n")


def test_the_row_of_another_board_in_the_same_file_is_not_ours() -> None:
    mapping, make, read = BOARDS["swe-bench"]
    after, _ = edited(mapping, make(), entry())
    rows = [row for row in read(after[mapping["path"]]) if row["name"] == MODEL]

    assert [row["resolved"] for row in rows] == [9.0, 33.6]


NESTED: dict[str, Any] = {
    **YAML,
    "columns": {
        **YAML["columns"],
        "share": {"name": ["run", "share"], "value": "tasks.gpqa.raw", "missing": "omit"},
        "precision": {"name": ["run", "precision"], "value": "model.precision"},
        "musr": {"name": ["more", "musr"], "value": "tasks.musr.raw"},
    },
}


@pytest.mark.parametrize(
    ("gpqa", "run"), [(0.125, "share: 0.125, precision: 'bfloat16'"), (None, "precision: 'bfloat16'")]
)
def test_a_new_row_of_yaml_has_each_key_of_its_neighbour_in_the_same_form(gpqa: float | None, run: str) -> None:
    row = (
        "- Model: a\n  tags:\n  - x\n  run: {share: 1, precision: ''}\n  more:\n    musr: 2\n  'a key': v\n  BBH: 0.5\n"
    )
    after, draft = edited(NESTED, {"t.yml": row.encode()}, entry(scores={"bbh": 0.25, "gpqa": gpqa, "musr": 3.0}))

    assert draft.refused == {}
    assert after["t.yml"].decode() == (
        f"{row}- Model: {MODEL}\n  tags: []\n  run: {{{run}}}\n  more:\n    musr: 3.0\n  'a key': null\n  BBH: 0.25\n"
    )


def test_a_request_shows_each_cell_before_and_after() -> None:
    there = {"t.json": f'[{{"Model": "{MODEL}", "BBH": 0.25, "n": null}}]'.encode()}
    columns = {**JSON["columns"], "n": {"value": "tasks.gpqa.raw", "missing": "null"}}
    rows = entry(scores={"bbh": 0.5}), entry("acme/new", {"bbh": 0.75, "gpqa": None}, key="new")
    _, draft = edited(JSON, there, *rows, columns=columns, on_existing="update")

    gpqa = next(task.raw for task in rows[0].tasks if task.id == "gpqa")
    assert draft.cells == {
        rows[0].key: (CellChange("BBH", "0.25", "0.5"), CellChange("n", "", repr(gpqa))),
        "new": (CellChange("Model", None, "acme/new"), CellChange("BBH", None, "0.75"), CellChange("n", None, "")),
    }
