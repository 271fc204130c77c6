"""A repository of a stranger is set up to run programs in every way that git knows: none of them ever runs.

Each way is planted with a canary of its own, all in one repository, and each command of the bot is pointed at it. A
recorder stands as `git` first on PATH: what it is started with holds none of the bot's secrets.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.command import bot
from tests.platforms.git.test_source import Folder
from tests.world.results import TINY, path_of, result

SECRETS = ("HF_TOKEN", "GITHUB_TOKEN", "OPERATOR_TOKEN", "WEBHOOK_SECRET")
MODELS = ("acme/atlas-7b", "acme/borea-1b", "acme/corvo-3b")
HOOKS = ("post-checkout", "post-commit", "post-index-change", "pre-commit", "reference-transaction", "update")
NAMES = ("core.sshCommand", "core.gitProxy", "core.fsmonitor", "core.askPass", "core.pager", "core.editor")
NAMES += (
    "core.alternateRefsCommand",
    "credential.helper",
    "gpg.program",
    "diff.external",
    "uploadpack.packObjectsHook",
    "gpg.ssh.program",
    "gpg.ssh.defaultKeyCommand",
    "sequence.editor",
    "remote.origin.vcs",
    "merge.evil.driver",
    "trailer.evil.command",
)
NAMES += ("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.evil.command")
VARIABLES = ("GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND", "GIT_PAGER")
VARIABLES += ("GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR")
ALWAYS_SET = ("protocol.allow=never", "safe.bareRepository=explicit", "core.fsmonitor=false")
SETTINGS = """
[[watches]]
name = "w"
leaderboard = "tiny.toml"
source = "evil"
[[watches.targets]]
to = "evil"
as = "{form}"
"""


@dataclass
class Trap:
    """Programs that leave a canary behind, one for each way; `ran` names those that did."""

    folder: Path

    @property
    def ran(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "ran").iterdir())

    def program(self, name: str) -> str:
        (self.folder / "ran").mkdir(parents=True, exist_ok=True)
        file = self.folder / "programs" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\ntouch {self.folder}/ran/{name}\nexit 1\n")
        file.chmod(0o755)
        return str(file)

    def plant(self, git_dir: Path, mark: str) -> None:
        """Set a repository up to run every program."""
        for hook in HOOKS:
            for folder in (git_dir / "hooks", self.folder / f"hooks-{mark}"):
                folder.mkdir(exist_ok=True)
                shutil.copy(self.program(f"{mark}.hook.{hook}"), folder / hook)
        (git_dir / "info").mkdir(exist_ok=True)
        (git_dir / "info" / "attributes").write_text("* filter=evil diff=evil\n")
        included = self.folder / f"included-{mark}"
        included.write_text(self.settings(f"{mark}.included"))
        remotes = {
            "ssh": "ssh://localhost/x",
            "ext": f"ext::{self.program(f'{mark}.ext')}",
            "git": "git://localhost/x",
            "up": str(git_dir),
        }
        text = (
            self.settings(mark) + f"[include]\n\tpath = {included}\n[core]\n\thooksPath = {self.folder}/hooks-{mark}\n"
        )
        text += '[protocol "ext"]\n\tallow = always\n[commit]\n\tgpgSign = true\n'
        for name, url in remotes.items():
            text += f'[remote "{name}"]\n\turl = {url}\n\tpromisor = true\n\tpartialclonefilter = blob:none\n'
            text += f"\tuploadpack = {self.program(f'{mark}.uploadpack.{name}')}\n"
        text += "[extensions]\n\tpartialClone = ssh\n\tworktreeConfig = true\n"
        config = git_dir / "config"
        config.write_text(config.read_text().replace("formatversion = 0", "formatversion = 1") + text)
        (git_dir / "config.worktree").write_text(self.settings(f"{mark}.worktree"))

    def settings(self, mark: str) -> str:
        lines = []
        for name in NAMES:
            section, key = name.rpartition(".")[::2]
            head, _, rest = section.partition(".")
            lines.append(f'[{head} "{rest}"]' if rest else f"[{head}]")
            lines.append(f"\t{key} = {self.program(f'{mark}.{name}')}")
        return "\n".join([*lines, ""])


@dataclass
class World:
    """A folder with a clean board whose rows name a stranger's repository, and that repository."""

    place: Path
    trap: Trap
    environment: Mapping[str, str]

    def run(self, *words: object, status: tuple[int, ...] = (0, 1, 2, 3, 4)) -> str:
        done, out, err = bot(*words, cwd=self.place, env=self.environment)
        assert done in status, err
        assert "Traceback" not in err
        return out + err

    def check(self) -> None:
        assert self.trap.ran == []
        seen = (self.trap.folder / "recorded").read_text()
        assert "--git" in seen or "GIT_DIR" in seen  # the recorder was asked
        assert [name for name in SECRETS if f"secret-{name}" in seen] == []
        starts = [line for line in seen.splitlines() if line.startswith("-c ")]
        assert [line for line in starts if not all(f"-c {one}" in line for one in ALWAYS_SET)] == []
        assert starts
        assert {line for line in seen.splitlines() if line.startswith("GIT_ALLOW_PROTOCOL=")} == {"GIT_ALLOW_PROTOCOL="}


ACTION_RUNS = [
    ("check", "evil", "", "evil"),
    ("publish", "evil", "", "evil"),
    ("verify", "evil", "", "evil"),
    ("verify", "evil", ".", "evil"),
    ("verify", "board", "", "evil"),
    ("verify", "board", ".", "."),
]
MORE = [pytest.param(kind, marks=pytest.mark.campaign) for kind in ("non-bare", "linked")]


@pytest.fixture(params=["bare", *MORE])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    place, trap = tmp_path / "place", Trap(tmp_path / "trap")
    place.mkdir()
    (place / "tiny.toml").write_text(TINY)
    evil = Folder(place / "evil")
    evil.push({path_of(model): result(model) for model in MODELS} | {".gitattributes": b"* filter=evil diff=evil\n"})
    (place / "bot.toml").write_text(SETTINGS.format(form="commit"))
    for to in ("board", "evil"):
        done = bot("publish", "evil", "--to", f"./{to}", "-l", "tiny.toml", "--as", "commit", cwd=place)
        assert done[0] == 0, done[2]
    name_sources(place, ["evil", str(place / "evil"), f"file://{place}/evil"], evil.git("rev-parse", "HEAD"))
    git_dir = evil.path / ".git"
    if request.param == "bare":
        shutil.move(git_dir, place / "aside")
        shutil.rmtree(evil.path)
        shutil.move(place / "aside", evil.path)
        git_dir = evil.path
        config = git_dir / "config"
        config.write_text(config.read_text().replace("bare = false", "bare = true"))
    elif request.param == "linked":
        shutil.move(git_dir, place / "hidden")
        git_dir.write_text("gitdir: ../hidden\n")
        git_dir = place / "hidden"
    trap.plant(git_dir, "repository")
    lend(git_dir, place / "lender", trap)
    return World(place, trap, environment(tmp_path, trap))


def lend(git_dir: Path, lender: Path, trap: Trap) -> None:
    """Move the objects of a repository into another one, which is set up to run programs too, as its alternate."""
    Folder(lender)
    shutil.rmtree(lender / ".git" / "objects")
    shutil.copytree(git_dir / "objects", lender / ".git" / "objects")
    for path in (git_dir / "objects").glob("??/*"):
        path.unlink()
    (git_dir / "objects" / "info").mkdir(exist_ok=True)
    (git_dir / "objects" / "info" / "alternates").write_text(f"{lender}/.git/objects\n")
    trap.plant(lender / ".git", "alternate")


def name_sources(place: Path, names: list[str], commit: str) -> None:
    """Let the rows of the board name the repository in each way."""
    paths = sorted((place / "board" / "entries").rglob("*.json"))
    for path, name in zip(paths, names, strict=True):
        whole = json.loads(path.read_text())
        whole["evidence"][0] |= {"source": name, "commit": commit, "path": path_of(whole["model"]["id"])}
        path.write_text(json.dumps(whole))
    Folder(place / "board").push({})


def environment(folder: Path, trap: Trap) -> dict[str, str]:
    """The user's own git is set up to run programs, too, and every secret of the bot is set."""
    recorder, home = folder / "bin" / "git", folder / "home"
    recorder.parent.mkdir()
    real = shutil.which("git")
    recorder.write_text(f'#!/bin/sh\n{{ echo "$@"; env; }} >> {trap.folder}/recorded\nexec {real} "$@"\n')
    recorder.chmod(0o755)
    home.mkdir()
    (home / ".gitconfig").write_text(trap.settings("user"))
    return {
        "PATH": os.pathsep.join([str(recorder.parent), os.environ["PATH"]]),
        "HOME": str(home),
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "GITHUB_API_URL": "http://127.0.0.1:9",
        "DATABASE_URL": f"sqlite:///{folder / 'bot.db'}",
        **{name: trap.program(f"variable.{name}") for name in VARIABLES},
        **{name: f"secret-{name}" for name in SECRETS},
    }


def spoil(world: World) -> None:
    """Take the contents of the results away, so that git would fetch them from the stranger's remotes."""
    found = [path for name in ("evil", "hidden", "lender") for path in (world.place / name).glob("**/objects/??/*")]
    for path in found:
        if b"blob " in head_of(path):
            path.unlink()


def head_of(path: Path) -> bytes:
    return zlib.decompressobj().decompress(path.read_bytes(), 20)


@pytest.mark.slow
def test_the_traps_work(world: World) -> None:
    """What git runs where nobody holds it back: a canary that cannot die proves nothing."""
    folder = world.place / "evil"
    environment = {**world.environment, "PATH": os.environ["PATH"]}
    for words in (
        ["status"],
        ["fetch", "ssh"],
        ["fetch", "ext"],
        ["update-ref", "refs/heads/x", "HEAD"],
        ["fetch", "up"],
    ):
        subprocess.run(["git", *words], cwd=folder, env=environment, capture_output=True, check=False)

    assert any("ssh" in name.lower() for name in world.trap.ran)
    assert {"repository.ext", "repository.uploadpack.up"} <= set(world.trap.ran)
    folder = world.place / "lender"
    subprocess.run(["git", "status"], cwd=folder, env=environment, capture_output=True, check=False)
    assert any(name.startswith("alternate.") for name in world.trap.ran)


def test_a_strangers_evidence_runs_nothing(world: World) -> None:
    assert "3 untraceable" in world.run("verify", "./board", status=(1,))
    world.run("verify", "./board", "--sources", ".")
    world.run("verify", "./board", "--sources", "evil")
    world.run("verify", "./evil", "--sources", "evil")
    assert "3 untraceable" in world.run("verify", "./evil", status=(1,))
    spoil(world)
    assert "3 untraceable" in world.run("verify", "./board", status=(1,))
    world.run("verify", "./board", "--sources", ".")
    world.check()


@pytest.mark.slow
def test_a_strangers_target_and_source_run_nothing(world: World) -> None:
    world.run("board", "./evil", "-l", "tiny.toml")
    world.run("site", "./evil", "--out", "site", "-l", "tiny.toml")
    world.run("check", "evil", "-l", "tiny.toml")
    (world.place / "new.json").write_bytes(result("acme/new-1b"))
    for form in ("commit", "pull-request", "comment"):
        world.run("publish", "new.json", "--to", "./evil", "-l", "tiny.toml", "--as", form)
    world.run("publish", "evil", "--to", "./mine", "-l", "tiny.toml")
    world.check()


@pytest.mark.slow
def test_a_strangers_watch_runs_nothing(world: World) -> None:
    world.run("settle", "--config", "bot.toml")
    (world.place / "bot.toml").write_text(SETTINGS.format(form="pull-request"))
    world.run("settle", "--config", "bot.toml")
    world.run("import", "./evil", "--to", "./imported", "-l", "tiny.toml", "--yes")
    spoil(world)
    world.run("board", "./evil", "-l", "tiny.toml")
    world.run("import", "./evil", "--to", "./other", "-l", "tiny.toml", "--yes")
    world.check()


@pytest.mark.slow
def test_a_strangers_workspace_runs_nothing_in_the_action(world: World) -> None:
    evil = world.place / "evil"
    shutil.copy(world.place / "tiny.toml", evil)
    (evil / "new.json").write_bytes(result("acme/new-1b"))
    variables = {
        **world.environment,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "GITHUB_EVENT_NAME": "workflow_dispatch",
        "GITHUB_REPOSITORY": "acme/results",
        "GITHUB_SHA": "0" * 40,
        "GITHUB_OUTPUT": str(world.place / "output"),
        "GITHUB_STEP_SUMMARY": str(world.place / "summary"),
        "RUNNER_TEMP": str(world.place),
        "INPUT_RESULTS": "**/*.json",
        "INPUT_LEADERBOARD": "tiny.toml",
        "INPUT_CHANGED_ONLY": "false",
        "INPUT_TO": str(evil),
    }
    for mode, to, sources, workspace in ACTION_RUNS:
        inputs = {"INPUT_MODE": mode, "INPUT_TO": str(world.place / to), "INPUT_SOURCES": sources}
        inputs["GITHUB_WORKSPACE"] = str(world.place / workspace)
        words = [sys.executable, "-m", "bot.action"]
        done = subprocess.run(words, cwd=evil, env=variables | inputs, capture_output=True, check=False)
        assert done.returncode in {0, 1, 3}, done.stdout + done.stderr
    world.check()
