"""Rows computed again from their evidence: what was edited, lost or changed is found, and sound rows follow."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bot import data
from bot.evaluation.leaderboard import load_leaderboard, parse_leaderboard
from bot.platforms.platform import Access, Opener
from bot.publishing.entry import declaration_path, parse_entry
from bot.service.checks.badge import badge_of
from bot.service.checks.verify import VerifiedRow, Verifier
from bot.service.checks.verify_board import compare_file
from bot.service.checks.verify_evidence import model_state
from bot.service.context import ContextFactory
from bot.service.settings.config import parse_settings
from bot.service.store.engine import connect
from bot.service.store.state import Store
from tests.command import bot
from tests.evaluation.judging import EXAMPLES
from tests.platforms.git.test_source import Folder
from tests.service.passes import settle
from tests.service.stories import Story
from tests.variants import one_of
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result

SETTINGS = """
[[watches]]
name = "w"
leaderboard = "tiny.toml"
source = "results"
[[watches.targets]]
to = "board"
as = "commit"
"""
MODELS = ["acme/atlas-7b", "acme/borea-1b"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source, a board of two rows, and the declaration."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "tiny.toml").write_text(TINY)
    Folder(folder / "results").push({path_of(model): result(model) for model in MODELS})
    store = Store(connect(f"sqlite:///{folder / 'bot.db'}"))
    [watch] = parse_settings(SETTINGS, "bot.toml").watches
    settle(ContextFactory(Access(), store, folder).open_context(watch))
    store.close()
    return folder


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


def verify(place: Path, *names: str, today: str = "") -> list[VerifiedRow]:
    opener = Opener(Access(), place)
    declared = load_leaderboard(today) if today else None
    return list(Verifier(opener.target("board"), opener, declared, sources=[place]).verify(names))


def edit(place: Path, path: str, data: bytes | None) -> None:
    """What somebody commits at the target."""
    Folder(place / "board").push({path: data})


def entry_file(place: Path, model: str) -> str:
    [row] = verify(place, model)
    return f"entries/{row.key}.json"


def outcomes(rows: list[VerifiedRow]) -> list[str]:
    return [row.outcome for row in rows]


def test_sound_rows_follow_from_their_evidence(place: Path) -> None:
    assert outcomes(verify(place)) == ["follows", "follows"]
    assert outcomes(verify(place, today=str(place / "tiny.toml"))) == ["follows", "follows"]


def test_an_edited_number_is_named_with_both_values(place: Path) -> None:
    path = entry_file(place, MODELS[0])
    whole = json.loads((place / "board" / path).read_text())
    whole["average"] += 0.5
    edit(place, path, json.dumps(whole).encode())

    [row] = [row for row in verify(place) if not row.follows]
    assert (row.outcome, [one.name for one in row.differences]) == ("differs", ["average"])
    assert row.differences[0].published == row.differences[0].computed + 0.5  # type: ignore[operator]


@pytest.mark.parametrize(
    ("rule", "more"), one_of([("rerun-differs", {}), ("settings-differ", {"gen_kwargs": {"top_p": 0.5}})])
)
def test_a_row_that_tells_of_files_it_is_not_made_of_follows(place: Path, rule: str, more: dict[str, object]) -> None:
    """The evidence has the files that numbers come from: of another run, `verify` has the row's own word."""
    config = json.loads(result(MODELS[0]))["config"] | more
    again = result(MODELS[0], right=(51, 60, 70), date=1_790_100_000.0, config=config)
    Folder(place / "results").push({path_of(MODELS[0], "2026-03-05T10-00-00.000000"): again})
    done = bot("publish", "results", "--to", "./other", "--as", "commit", "-l", "tiny.toml", cwd=place)
    assert done[0] == 0, done[2]

    opener = Opener(Access(), place)
    rows = {row.key: row for row in Verifier(opener.target("other"), opener, sources=[place]).verify()}
    assert outcomes(list(rows.values())) == ["follows", "follows"]
    [said] = [row.notice for row in rows.values() if "own word" in row.notice]
    assert f"({rule})" in said


@pytest.mark.parametrize("field", one_of(['"average": 99.9', '"verdict": "incomplete"', '"x": {"y": 1, "y": 2}']))
def test_a_field_that_stands_twice_is_named(place: Path, field: str) -> None:
    """Of two, one program reads the last, and a person or another program the first."""
    path = entry_file(place, MODELS[0])
    text = (place / "board" / path).read_text()
    edit(place, path, text.replace("{", f"{{{field},", 1).encode())

    [row] = [row for row in verify(place) if not row.follows]
    assert (row.key, row.outcome) == (path, "untraceable")
    assert "has a key twice" in row.why


@pytest.mark.slow
@pytest.mark.parametrize("name", ["datasets/../acme", "datasets/a--b/c", "models/acme/..", "datasets/a/b@x/y", ""])
def test_a_source_that_is_no_address_stops_no_other_row(place: Path, name: str) -> None:
    path = entry_file(place, MODELS[0])
    whole = json.loads((place / "board" / path).read_text())
    whole["evidence"][0] |= {"source": f"hf://{name}", "path": "x.json"}
    edit(place, path, json.dumps(whole).encode())

    assert sorted(outcomes(verify(place))) == ["follows", "untraceable"]


def test_another_digest_of_the_evidence_is_found(place: Path) -> None:
    path = entry_file(place, MODELS[0])
    whole = json.loads((place / "board" / path).read_text())
    whole["evidence"][0]["sha256"] = "0" * 64
    edit(place, path, json.dumps(whole).encode())

    assert sorted(outcomes(verify(place))) == ["evidence", "follows"]


def test_a_file_that_is_gone_is_found(place: Path) -> None:
    shutil.rmtree(place / "results")
    Folder(place / "results").push({"README.md": b"new"})

    assert outcomes(verify(place)) == ["gone", "gone"]


def test_another_declaration_of_today_is_a_reason_of_its_own(place: Path) -> None:
    (place / "now").mkdir()
    (place / "now" / "tiny.toml").write_text(TINY.replace('"1/4"', '"1/5"'))

    assert outcomes(verify(place, today=str(place / "now" / "tiny.toml"))) == ["declaration", "declaration"]


def test_a_row_without_its_declaration_cannot_be_traced(place: Path) -> None:
    [path] = (place / "board" / "declarations").glob("?" * 64 + ".toml")
    edit(place, f"declarations/{path.name}", None)

    rows = verify(place)
    assert outcomes(rows) == ["untraceable", "untraceable"]
    assert f"declarations/{path.name} is missing" in rows[0].why


def test_another_declaration_under_the_name_of_a_digest_counts_for_no_row(place: Path) -> None:
    [path] = (place / "board" / "declarations").glob("?" * 64 + ".toml")
    edit(place, f"declarations/{path.name}", TINY.replace('"1/4"', '"1/5"').encode())

    rows = verify(place)
    assert outcomes(rows) == ["untraceable", "untraceable"]
    assert f"declarations/{path.name} is missing or different" in rows[0].why


def test_the_target_keeps_the_declaration_that_its_rows_name(place: Path) -> None:
    [path] = [path for path in (place / "board" / "entries").rglob("*.json") if "atlas" in str(path)]
    entry = parse_entry(path.read_bytes())

    kept = (place / "board" / declaration_path(entry.leaderboard.digest)).read_text()
    assert parse_leaderboard(kept, "tiny", "tiny.toml").digest == entry.leaderboard.digest


@pytest.mark.slow
def test_rows_follow_after_another_version_of_the_bot_came_with_other_data(tmp_path: Path) -> None:
    """The catalogue's groups, the definitions of releases and the shipped declarations may change; a row's may not."""
    sound = [path for path in EXAMPLES if path.parent.name.endswith(("kestrel-7b", "osprey-7b"))]
    Folder(tmp_path / "results").push({f"{path.parent.name}/{path.name}": path.read_bytes() for path in sound})
    assert bot("publish", "results", "--to", "./board", "--as", "commit", cwd=tmp_path)[0] == 0
    later = tmp_path / "later"
    shutil.copytree(Path(data.__file__).parents[1], later / "bot", ignore=shutil.ignore_patterns("__pycache__"))
    shipped = later / "bot" / "data"
    edit_text(shipped / "catalogue" / "open-llm-v2.toml", "samples = 250", "samples = 251")
    edit_text(shipped / "leaderboards" / "open-llm-v2.toml", 'lower_bound = "1/10"', 'lower_bound = "1/9"')
    for path in (shipped / "definitions").iterdir():
        path.write_text(json.dumps(json.loads(path.read_text()) | {"leaves": {}, "definitions": {}, "values": {}}))

    said = {}
    for name, folder in (("now", tmp_path), ("later", later)):
        said[name] = of_version(folder, "leaderboards", "show", "open-llm-v2")
        out = of_version(folder, "verify", str(tmp_path / "board"), "--sources", str(tmp_path))
        assert out.splitlines()[-1] == "2 rows: 2 follow"
    assert said["now"] != said["later"]


def of_version(folder: Path, *words: str) -> str:
    """What a command prints that ends well, of the program that lies in a folder, or else of this one."""
    command = [sys.executable, "-m", "bot", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def edit_text(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text, path
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_command_says_which_rows_do_not_follow(place: Path) -> None:
    path = entry_file(place, MODELS[0])
    status, out, _ = bot("verify", place / "board", "--sources", place)
    assert (status, out.splitlines()[-1]) == (0, "2 rows: 2 follow")
    whole = json.loads((place / "board" / path).read_text())
    whole["evidence"][0]["source"] = ""
    edit(place, path, json.dumps(whole).encode())
    status, out, _ = bot("verify", place / "board", "--sources", place, "--format", "json")

    assert status == 1
    assert sorted(row["outcome"] for row in json.loads(out)) == ["follows", "untraceable"]
    status, _, err = bot("verify", place / "board", "acme/none", "--sources", place)
    assert (status, err) == (2, "leaderboard-bot: acme/none: no row at the target has this key, path or model\n")


def test_of_a_table_the_edited_row_is_named_before_those_whose_rank_it_moved() -> None:
    there = b"entry,rank_best,average\na.json,2,40\nb.json,1,50\n"
    found = compare_file("leaderboard.csv", there, b"entry,rank_best,average\na.json,1,40\nb.json,2,30\n")
    assert found is not None
    told = [one.name for one in found.differences]
    assert told == ["average of b.json", "rank_best of a.json", "rank_best of b.json"]


@pytest.mark.slow
def test_a_table_that_the_entries_do_not_give_is_named_with_its_cell(place: Path) -> None:
    there = place / "board" / "leaderboard.csv"
    sound = there.read_text()
    row = next(csv.DictReader(io.StringIO(sound)))
    head = Folder(place / "board").git("rev-parse", "HEAD").strip()
    call = ("verify", place / "board", "--sources", place)
    status, out, _ = bot(*call)
    assert (status, f"was read at commit {head}: the entries, and what they give\n" in out) == (0, True), out

    edit(place, "leaderboard.csv", sound.replace(row["average"], "99.5", 1).encode())
    status, out, _ = bot(*call, "--badge", place / "badge.json")
    assert status == 1
    assert "✗ board  leaderboard.csv: 1 cell is not what the entries give\n" in out
    assert f"    average of {row['entry']}: published 99.5, computed {row['average']}\n" in out
    assert out.splitlines()[-1] == "2 rows: 2 follow"
    assert json.loads((place / "badge.json").read_text())["message"] == "the table differs from the rows"
    assert [one["key"] for one in json.loads(bot(*call, "--format", "json")[1]) if one["outcome"] == "board"] == [
        "leaderboard.csv"
    ]

    edit(place, "leaderboard.csv", sound.encode())
    edit(place, "README.md", b"<!-- leaderboard-bot table -->\n| rank |\n<!-- leaderboard-bot table end -->\n")
    status, out, _ = bot(*call)
    assert (status, "✗ board  README.md: its table is not what the entries give\n" in out) == (1, True), out
    edit(place, "README.md", None)

    older = "".join(f"{line.rpartition(',')[0]}\n" for line in sound.splitlines())  # of a version with a column less
    edit(place, "leaderboard.csv", older.encode())
    assert bot(*call)[0] == 0

    edit(place, "leaderboard.csv", b"Model,Score\na,1\n")
    status, out, _ = bot(*call)
    assert (status, "entries only: leaderboard.csv was not made by leaderboard-bot" in out) == (0, True), out
    edit(place, "leaderboard.csv", None)
    status, out, _ = bot(*call)
    assert (status, "entries only, there is no leaderboard.csv" in out) == (0, True), out


def test_all_reference_rows_follow_and_one_that_is_edited_does_not(reference: Path, tmp_path: Path) -> None:
    results = reference / "openllm_v2" / "results"
    files = {str(path.relative_to(results)): path.read_bytes() for path in sorted(results.rglob("*.json"))}
    Folder(tmp_path / "results").push(files)
    store = Store(connect(f"sqlite:///{tmp_path / 'bot.db'}"))
    text = SETTINGS.replace('"tiny.toml"', '"open-llm-v2"')
    settle(ContextFactory(Access(), store, tmp_path).open_context(parse_settings(text, "bot.toml").watches[0]))
    store.close()

    rows = verify(tmp_path, today="open-llm-v2")
    assert len(rows) > 10
    assert set(outcomes(rows)) == {"follows"}

    path = tmp_path / "board" / "entries" / f"{rows[0].key}.json"
    whole = json.loads(path.read_text())
    whole["average"] += 0.001
    edit(tmp_path, f"entries/{rows[0].key}.json", json.dumps(whole).encode())
    assert [row.outcome for row in verify(tmp_path) if not row.follows] == ["differs"]


@pytest.mark.parametrize("name", one_of(["badge.json", "badge.svg"]))
def test_a_badge_says_how_many_rows_follow(place: Path, name: str) -> None:
    path = entry_file(place, MODELS[0])
    assert bot("verify", place / "board", "--sources", place, "--badge", place / name)[0] == 0
    first = (place / name).read_text()
    whole = json.loads((place / "board" / path).read_text())
    whole["average"] += 0.5
    edit(place, path, json.dumps(whole).encode())
    assert bot("verify", place / "board", "--sources", place, "--badge", place / name)[0] == 1
    second = (place / name).read_text()

    if name.endswith("json"):
        said = [json.loads(text)["message"] for text in (first, second)]
        assert said == ["2 of 2, evidence file", "1 of 2 do not follow"]
        assert set(json.loads(first)) == {"schemaVersion", "label", "message", "color", "isError"}
    else:
        assert [ET.fromstring(text).get("aria-label") for text in (first, second)] == [
            "rows that follow: 2 of 2, evidence file",
            "rows that follow: 1 of 2 do not follow",
        ]


def test_a_badge_has_the_name_of_its_kind(place: Path) -> None:
    status, _, said = bot("verify", place / "board", "--sources", place, "--badge", place / "badge.gif")
    assert (status, (place / "badge.gif").exists()) == (2, False)
    assert "badge.gif: the name of a badge ends in .svg, or in .json for shields.io" in said


def test_a_badge_without_certainty_is_neither_good_nor_bad() -> None:
    assert badge_of(3, 0, 1) == ("1 of 3 not checked", "unknown")
    assert badge_of(0, 0, 0) == ("no rows", "unknown")
    assert badge_of(3, 1, 1)[1] == "bad"


def test_a_service_that_does_not_answer_is_no_row_that_differs(hub: Hub, tmp_path: Path) -> None:
    story = Story(hub, tmp_path, form="commit")
    for model in MODELS:
        story.push(model=model)
    story.settle()
    told = {**os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": story.token}

    hub.faults.order("acme/results", status=403, times=-1)
    status, out, _ = bot("verify", "hf://datasets/acme/contents", env=told)

    assert (status, out.count("✗ unavailable")) == (3, len(MODELS)), out
    story.contexts.store.close()


def test_a_revision_that_is_gone_is_found_and_one_that_main_has_left_is_a_notice(place: Path, hub: Hub) -> None:
    models = {model: hub.repository(model, "model") for model in MODELS}
    heads = {model: hub.push(repository, {"a": b"1"}).oid for model, repository in models.items()}
    for path in (place / "board" / "entries").rglob("*.json"):
        whole = json.loads(path.read_text())
        assert whole["model"]["id"] in heads
    opener = Opener(Access(hf_endpoint=hub.url), place)

    def states() -> dict[str, tuple[bool, str]]:
        found = {model: model_state(opener, model, heads[model]) for model in MODELS}
        return {model: (state.is_gone, state.said) for model, state in found.items()}

    assert set(states().values()) == {(False, "")}
    moved = hub.push(models[MODELS[0]], {"a": b"2"}).oid
    assert states()[MODELS[0]] == (False, f"the model's main branch has moved on to {moved[:12]}")
    heads[MODELS[1]] = "e" * 40
    assert states()[MODELS[1]] == (True, f"{MODELS[1]} is on the Hub, but its revision eeeeeeeeeeee is not")
    heads["acme/none"] = "e" * 40
    assert (
        model_state(opener, "acme/none", "e" * 40).said == "the model is not on the Hub, or this token may not see it"
    )
    assert not model_state(opener, "../x", "e" * 40).is_gone
    assert model_state(opener, "acme/none", "main").said == "the row names no commit of the model"

    rows = list(Verifier(opener.target("board"), opener, None, asks_models=True, sources=[place]).verify())
    assert outcomes(rows) == ["model", "model"]
