"""A folder is brought in step with a site: it is written only where it differs, or left as it was."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from bot.errors import CallError
from bot.pages.site import Site
from bot.pages.write import Written, write_site
from tests.pages.boards import generated, site_of


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def times(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_a_folder_gets_every_file_of_the_site_and_nothing_else(tmp_path: Path) -> None:
    site = site_of(generated(5))
    assert write_site(site, tmp_path / "a" / "out") == Written(len(site), 0, 0)
    assert files(tmp_path / "a" / "out") == dict(site)


def test_the_same_board_writes_nothing_the_second_time(tmp_path: Path) -> None:
    site = site_of(generated(5))
    write_site(site, tmp_path)
    before = times(tmp_path)
    assert write_site(site_of(generated(5)), tmp_path) == Written(0, len(site), 0)
    assert times(tmp_path) == before


def test_a_changed_row_gives_the_bytes_of_a_site_built_anew_and_rewrites_no_other_row(tmp_path: Path) -> None:
    rows = generated(12)
    write_site(site_of(rows[:-1]), tmp_path / "one")
    done = write_site(site_of(rows[1:]), tmp_path / "one")
    write_site(site_of(rows[1:]), tmp_path / "two")
    assert files(tmp_path / "one") == files(tmp_path / "two")
    assert done.removed == 2  # the page and the badge of the row that is gone


def test_a_link_in_a_strangers_site_leads_no_page_out_of_the_folder(tmp_path: Path) -> None:
    folder, outside = tmp_path / "site", tmp_path / "outside"
    outside.mkdir()
    write_site(site_of(generated(2)), folder)
    shutil.move(folder / "rows", outside / "rows")
    (folder / "rows").symlink_to(outside / "rows")
    before = files(outside)
    with pytest.raises(CallError, match="leads out of"):
        write_site(site_of(generated(3)), folder)
    assert files(outside) == before
    assert not list(folder.glob(".leaderboard-bot-*"))


def test_what_is_not_the_sites_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("title: a Space")
    (tmp_path / ".git").mkdir()
    write_site(site_of(generated(2)), tmp_path)
    write_site(site_of(generated(1)), tmp_path)
    assert (tmp_path / "README.md").read_text() == "title: a Space"
    assert (tmp_path / ".git").is_dir()


def test_pages_and_styles_of_somebody_else_stay_in_the_folder_of_a_site(tmp_path: Path) -> None:
    write_site(site_of(generated(2)), tmp_path)
    foreign = {"rows/mine.html": b"<h1>mine</h1>", "site.main.css": b"body {}", "site.12345678.mjs": b"1"}
    for path, data in foreign.items():
        (tmp_path / path).write_bytes(data)
    for name in ("site.00000000.css", "copy.00000000.js"):
        (tmp_path / name).write_bytes(b"of an older version")
    write_site(site_of(generated(1)), tmp_path)
    there = files(tmp_path)
    assert {path: there[path] for path in foreign} == foreign
    assert set(there) - set(foreign) == set(site_of(generated(1)))


def test_a_first_build_that_was_killed_among_its_moves_is_finished(tmp_path: Path) -> None:
    site = site_of(generated(2))
    write_site(site, tmp_path)
    (tmp_path / "index.html").unlink()  # moves last
    (tmp_path / ".leaderboard-bot-killed").mkdir()
    write_site(site, tmp_path)
    assert files(tmp_path) == dict(site)


FOREIGN = ["index.html", "rows/x.html", "about.html", "leaderboard.csv", ".nojekyll"]


@pytest.mark.parametrize("path", FOREIGN)
def test_another_site_is_not_overwritten(tmp_path: Path, path: str) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text('<h1>my home page</h1> Made by <a href="https://example.org">me</a>')
    before = files(tmp_path)
    with pytest.raises(CallError, match="name another folder"):
        write_site(site_of(generated(1)), tmp_path)
    assert files(tmp_path) == before


def test_a_file_in_the_way_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x")
    with pytest.raises(CallError, match="is a file"):
        write_site(site_of(generated(1)), tmp_path / "out")
    with pytest.raises(CallError, match="cannot be written"):
        write_site(site_of(generated(1)), tmp_path / "out" / "below")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_without_rights_is_one_line(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(CallError, match="cannot be written"):
        write_site(site_of(generated(1)), tmp_path / "out")


class Torn(Site):
    """A site of which one page cannot be made."""

    def __getitem__(self, path: str) -> bytes:
        if path == "compare.html":
            raise OSError(28, "No space left on device")
        return super().__getitem__(path)


def test_nothing_is_half_written(tmp_path: Path) -> None:
    write_site(site_of(generated(2)), tmp_path / "old")
    before = files(tmp_path / "old")
    torn = Torn(site_of(generated(3)).content)
    for folder in ("old", "new"):
        with pytest.raises(CallError, match="No space left"):
            write_site(torn, tmp_path / folder)
    assert files(tmp_path / "old") == before
    assert not (tmp_path / "new").exists()


def test_what_a_killed_process_left_is_swept(tmp_path: Path) -> None:
    write_site(site_of(generated(1)), tmp_path)
    (tmp_path / ".leaderboard-bot-x").mkdir()
    write_site(site_of(generated(1)), tmp_path)
    assert not list(tmp_path.glob(".leaderboard-bot-*"))


def test_pages_that_somebody_removed_emptied_or_edited_are_mended(tmp_path: Path) -> None:
    site = site_of(generated(3))
    write_site(site, tmp_path)
    gone, empty, unstamped = (path for path in site if path.startswith("rows/"))
    (tmp_path / gone).unlink()
    (tmp_path / empty).write_bytes(b"")
    (tmp_path / unstamped).write_bytes((tmp_path / unstamped).read_bytes()[60:])
    for path in ("index.html", "columns/bbh.html", "compare-data.js"):
        (tmp_path / path).write_bytes(site[path].replace(b"a", b"b", 1))
    assert write_site(site, tmp_path).changed == 6
    assert files(tmp_path) == dict(site)
