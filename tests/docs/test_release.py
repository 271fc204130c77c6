"""The release workflow: its own shell steps, on a real repository with releases."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.platforms.git.test_source import Folder
from tests.world.local_git import git

ROOT = Path(__file__).resolve().parents[2]
JOBS = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))["jobs"]
UV = shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")


def step(name: str) -> dict[str, Any]:
    """The step of this name."""
    [found] = [one for job in JOBS.values() for one in job["steps"] if one.get("name") == name]
    return dict(found)


def ran(name: str, tag: str, folder: Path) -> int:
    """The exit status of a step for a pushed tag, in the shell in which a runner takes it."""
    path = f"{Path(UV).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-c", step(name)["run"]],
        cwd=folder,
        env={"PATH": path, "HOME": str(folder), "TAG": tag},
        capture_output=True,
        check=False,
    ).returncode


def test_the_major_tag_moves_only_forward(tmp_path: Path) -> None:
    work = Folder(tmp_path / "work")
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "origin"], check=True)
    git(work.path, "remote", "add", "origin", str(tmp_path / "origin"))

    def release(tag: str, *more: str) -> tuple[str, dict[str, str]]:
        """Push a tag and run the step; the commit of the tag, and the tags with one number at the origin."""
        commit = work.push({"version": tag.encode()})
        git(work.path, "tag", "-a", "-m", tag, tag)
        git(work.path, "push", "-q", "origin", "main", "--tags")
        folder = tmp_path / f"checkout of {tag}"
        git(tmp_path, "clone", "-q", str(tmp_path / "origin"), str(folder))
        assert [ran("Move the major tag, only forward", one, folder) for one in (tag, *more)] == [0] * (1 + len(more))
        lines = git(tmp_path / "origin", "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/tags")
        named = dict(line.split() for line in lines.splitlines())
        return commit, {name: oid for name, oid in named.items() if "." not in name}

    first, tags = release("v1.9.0")
    assert tags == {"v1": first}
    tenth, tags = release("v1.10.0")
    assert tags == {"v1": tenth}
    _, tags = release("v1.9.1")
    assert tags == {"v1": tenth}
    git(work.path, "tag", "v1.11.0rc1")  # no release
    git(work.path, "tag", "v1.99")
    second, tags = release("v2.0.0", "v1.9.0")  # of which somebody runs the workflow once more
    assert tags == {"v1": tenth, "v2": second}
    other, tags = release("v10.0.0")
    assert tags == {"v1": tenth, "v2": second, "v10": other}
    last, tags = release("v1.10.1")
    assert tags == {"v1": last, "v2": second, "v10": other}


@pytest.mark.skipif(not Path(UV).exists(), reason="uv is not here")
def test_a_tag_that_is_not_the_version_of_the_package_ends_the_release() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    name = "The tag is the version of the package"
    assert [ran(name, tag, ROOT) for tag in (f"v{version}", version, f"v{version}.1", "v9.9.9")] == [0, 1, 1, 1]
    build = JOBS["build"]["steps"]
    assert next(one.get("name") for one in build if "run" in one) == name  # before anything is built


def test_nothing_is_published_that_was_not_built_checked_and_attested() -> None:
    assert {name: job.get("needs") for name, job in JOBS.items()} == {
        "build": None,
        "attest": "build",
        "publish": "attest",
        "notes": "publish",
    }
    commands = "\n".join(one["run"] for one in JOBS["build"]["steps"] if "run" in one)
    steps = ["make check", "make browser test test-slow", "make release-check", "uv build"]
    assert sorted(steps, key=commands.index) == steps
