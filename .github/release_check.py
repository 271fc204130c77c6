"""Rehearse a release: build it from a clean clone, install it as users do, and check all that is published with it.

`make release-check` calls this. TESTS names the tests that run in the unpacked sdist, "" for all of `make test`.
"""

# ruff: noqa: INP001, T201 -- a script that prints, in a folder that is no package
from __future__ import annotations

import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from email import message_from_bytes
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
UV = os.environ.get("UV", "uv")
UV = str(ROOT / UV) if os.sep in UV else UV  # the Makefile's own copy has a relative path
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
MOST_SECONDS, MOST_OF_VERSION, MOST_MEGABYTES, MOST_WHEEL = 0.45, 0.15, 100, 3_000_000
# What GitHub asks of an action on its Marketplace, besides a name that nobody has.
COLOURS = {"white", "black", "yellow", "blue", "green", "orange", "red", "purple", "gray-dark"}
LONGEST_DESCRIPTION = 125
PIN = re.compile(r"uses: (?P<action>[\w./-]+)@(?P<commit>\S+)(?: # (?P<version>v[\d.]+))?")


class ReleaseError(Exception):
    """Something that must be mended before a release."""


def run(*words: str | Path, cwd: Path = ROOT, expected: int = 0, **environment: str) -> str:
    """Run a command; its output. Raises ReleaseError where it ends in another way than expected."""
    variables = {**os.environ, "PYTHONPATH": "", **environment}
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False)
    if done.returncode != expected:
        raise ReleaseError(f"{' '.join(command)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def pythons() -> Iterator[tuple[str, str]]:
    """The supported versions that this machine has, each with its interpreter: on PATH, or where pyenv puts them."""
    for version in PYTHONS:
        known = [f"python{version}", *map(str, (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))]
        found = next((one for one in known if _is_python(one, version)), None)
        if found:
            yield version, found
        else:
            print(f"  Python {version}: not on this machine, not tried")


def _is_python(command: str, version: str) -> bool:
    """Tell whether a command runs this version of Python; a shim may stand for none."""
    code = f"import sys, venv, ensurepip; sys.exit('%d.%d' % sys.version_info[:2] != {version!r})"
    try:
        return subprocess.run([command, "-c", code], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def clean_clone(folder: Path) -> Path:
    """A clone of what is committed: nothing of the work tree gets into the release."""
    run("git", "clone", "--quiet", "--no-local", ROOT, folder / "clone")
    return folder / "clone"


def build(clone: Path) -> tuple[Path, Path]:
    """The wheel and the sdist, checked by twine."""
    run(UV, "build", "--quiet", cwd=clone)
    [wheel], [sdist] = clone.glob("dist/*.whl"), clone.glob("dist/*.tar.gz")
    print(run(UV, "tool", "run", "twine", "check", "--strict", wheel, sdist).strip())
    return wheel, sdist


def check_versions(clone: Path, wheel: Path) -> None:
    """One version everywhere, and one section of the changelog for it."""
    version = tomllib.loads((clone / "pyproject.toml").read_text())["project"]["version"]
    sections = re.findall(r"^## \[?(\d[\d.]*)", (clone / "CHANGELOG.md").read_text(), re.MULTILINE)
    found = {"the wheel": wheel.name.split("-")[1], "CHANGELOG.md": ", ".join(sections)}
    odd = [f"{name} has {one}" for name, one in found.items() if one != version]
    if odd:
        raise ReleaseError(f"pyproject.toml has {version}, but {', '.join(odd)}")
    print(f"  {version}")


def check_wheel(wheel: Path) -> None:
    """What users get: the package with its data, the licence, the classifiers, links that work on PyPI."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [path] = [name for name in names if name.endswith(".dist-info/METADATA")]
        metadata = message_from_bytes(archive.read(path))
    faults = [f"{name} is in it" for name in names if not re.match(r"bot/|leaderboard_bot-[^/]+\.dist-info/", name)]
    wanted = ("bot/py.typed", "bot/data/bot.example.toml", "licenses/LICENSE")
    faults += [f"{name} is not in it" for name in wanted if not any(one.endswith(name) for one in names)]
    classifiers = metadata.get_all("Classifier") or []
    missing = [version for version in PYTHONS if f"Programming Language :: Python :: {version}" not in classifiers]
    faults += [f"no classifier for Python {version}" for version in missing]
    faults += [] if metadata["License-Expression"] == "Apache-2.0" else ["the licence is not Apache-2.0"]
    faults += [] if metadata.get_all("Project-URL") else ["it has no links"]
    text = str(metadata.get_payload())
    relative = re.findall(r"\]\((?!https://|#|mailto:)([^)]*)\)", text)
    faults += [f"its page on PyPI has links that lead nowhere: {', '.join(relative[:3])}"] if relative else []
    size = wheel.stat().st_size
    faults += [f"it has {size:,} bytes"] if size > MOST_WHEEL else []
    if faults:
        raise ReleaseError(f"{wheel.name}: {'; '.join(faults)}")
    print(f"  {wheel.name}: {len(names)} files, {size:,} bytes")


def check_installed(wheel: Path, sdist: Path, folder: Path) -> None:
    """Install the wheel with pip into an empty environment of each Python, and use it."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    [source] = [one for one in folder.iterdir() if one.is_dir() and one.name.startswith("leaderboard_bot-")]
    for version, interpreter in pythons():
        place = folder / f"python{version}"
        run(interpreter, "-m", "venv", place)
        python = place / "bin" / "python"
        empty = _size(place)
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        size = _size(place) - empty
        checked, told = _seconds(place / "bin" / "leaderboard-bot", source)
        _action(python, source, folder / f"action{version}")
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[server,tables]")
        tour = folder / f"tour{version}"
        shutil.copytree(source / "examples", tour / "examples")
        run(python, tour / "examples" / "tour.py", cwd=tour)
        print(
            f"  Python {version}: core {size / 1e6:.0f} MB, tour, action; check {checked:.2f} s, --version {told:.2f} s"
        )
        if size > MOST_MEGABYTES * 1e6 or checked > MOST_SECONDS or told > MOST_OF_VERSION:
            raise ReleaseError(
                f"over {MOST_MEGABYTES} MB of the core, {MOST_SECONDS} s of check or {MOST_OF_VERSION} s of --version"
            )


def _size(folder: Path) -> int:
    """The bytes of what is installed, without what Python compiles of it."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc")


def _seconds(command: Path, source: Path) -> tuple[float, float]:
    """The processor time of `check` of one file and of `--version`, once modules are compiled: the least of ten."""
    [good] = (source / "examples" / "results" / "example-org__kestrel-7b").glob("*.json")

    def seconds(*words: str | Path) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(command, *words)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(seconds("check", good) for _ in range(10)), min(seconds("--version") for _ in range(10))


def check_readme(clone: Path, folder: Path) -> None:
    """The command of README.md installs from the repository, for which git takes the clone."""
    [line] = re.findall(r"^pip (install .*)$", (clone / "README.md").read_text(), re.MULTILINE)
    [address] = re.findall(r"git\+(https://[^'@#]*)", line)
    # pip 23 takes no git+file://
    git = {"CONFIG_COUNT": "1", "CONFIG_KEY_0": f"url.file://{clone}.insteadOf", "CONFIG_VALUE_0": address}
    variables = {f"GIT_{key}": value for key, value in git.items()}
    _, interpreter = list(pythons())[-1]
    run(interpreter, "-m", "venv", folder / "readme")
    run(folder / "readme" / "bin" / "python", "-m", "pip", *shlex.split(line), "--quiet", **variables)
    print(f"  {run(folder / 'readme' / 'bin' / 'leaderboard-bot', '--version').strip()}")


def _action(python: Path, source: Path, folder: Path) -> None:
    """The Action's entry on the examples: one annotation for each fault, and the outputs."""
    shutil.copytree(source / "examples" / "results", folder / "workspace")
    for name in ("output", "summary"):
        (folder / name).touch()
    (folder / "event.json").write_text("{}")
    given = {
        "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(folder / "workspace"), "RUNNER_TEMP": str(folder),
        "GITHUB_OUTPUT": str(folder / "output"), "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_EVENT_NAME": "workflow_dispatch", "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_REPOSITORY": "example-org/results", "GITHUB_SHA": "0" * 40, "GITHUB_REF": "refs/heads/main",
        "INPUT_RESULTS": "**/*.json", "INPUT_LEADERBOARD": "open-llm-v2", "INPUT_MODE": "check",
        "INPUT_CHANGED_ONLY": "false", "INPUT_FAIL_ON": "error", "INPUT_COMMENT": "never",
    }  # fmt: skip
    said = run(python, "-P", "-m", "bot.action", cwd=folder / "workspace", expected=1, **given)
    if "::error" not in said or "verdict=rejected" not in (folder / "output").read_text().replace("\n", "="):
        outputs = (folder / "output").read_text()
        if "::error" not in said or "rejected" not in outputs:
            raise ReleaseError(f"the Action found no fault in the examples: {said[-500:]}{outputs}")


def check_sdist(sdist: Path, folder: Path, tests: str) -> None:
    """The tests pass from the sdist alone, in an environment of its lock."""
    source = folder / "sdist"
    with tarfile.open(sdist) as archive:
        archive.extractall(source, filter="data")
    [root] = source.iterdir()
    run("git", "init", "--quiet", cwd=root)  # some tests ask git for the list of files
    run("git", "add", ".", cwd=root)
    run(UV, "sync", "--frozen", "--quiet", "--all-extras", cwd=root, UV_PROJECT_ENVIRONMENT=".venv")
    words = shlex.split(tests) or ["-n", "2", "--dist", "worksteal", "-m", "not campaign"]
    path = os.pathsep.join([str(Path(shutil.which(UV) or UV).parent), os.environ["PATH"]])  # some tests call uv
    print(run(root / ".venv" / "bin" / "pytest", "-q", *words, cwd=root, PATH=path).strip().splitlines()[-1])


def check_action(clone: Path) -> None:
    """`action.yml` has what the Marketplace asks for, and says what each input and output is."""
    action = yaml.safe_load((clone / "action.yml").read_text())
    faults = [f"{key} is missing" for key in ("name", "description", "author", "branding") if not action.get(key)]
    branding = action.get("branding") or {}
    faults += [] if branding.get("color") in COLOURS and branding.get("icon") else ["branding needs icon and color"]
    if len(action.get("description", "")) > LONGEST_DESCRIPTION:
        faults.append(f"description has more than {LONGEST_DESCRIPTION} characters")
    for kind in ("inputs", "outputs"):
        faults += [f"{kind}.{name} has no description" for name, one in action[kind].items() if not one["description"]]
    if faults:
        raise ReleaseError(f"action.yml: {'; '.join(faults)}")


def check_pins(clone: Path) -> None:
    """Each action is pinned by one commit with its version; the image's packages and digests are those of the lock."""
    places = [clone / "action.yml", *sorted((clone / ".github" / "workflows").glob("*.yml"))]
    pins: dict[str, set[tuple[str, str]]] = {}
    for place in places:
        for found in PIN.finditer(place.read_text()):
            if not found["action"].startswith("./"):
                pins.setdefault(found["action"], set()).add((found["commit"], found["version"] or ""))
    odd = [name for name, known in pins.items() if len(known) > 1 or not all(_is_pinned(*one) for one in known)]
    if odd:
        raise ReleaseError(f"not pinned by one commit with its version: {', '.join(odd)}")
    locked = set(re.findall(r"sha256:[0-9a-f]{64}", (clone / "uv.lock").read_text()))
    used = set(re.findall(r"sha256:[0-9a-f]{64}", (clone / "requirements-image.txt").read_text()))
    if used - locked:
        raise ReleaseError(f"requirements-image.txt has {len(used - locked)} digests that uv.lock does not have")
    print(f"  {len(pins)} actions are pinned, {len(used)} digests are those of the lock")


def _is_pinned(commit: str, version: str) -> bool:
    return bool(re.fullmatch(r"[0-9a-f]{40}", commit)) and bool(version)


def check_workflows(clone: Path) -> None:
    """zizmor, the schemas and actionlint find nothing in the workflows, the action, and the recipes of the docs."""
    print(run(sys.executable, clone / ".github" / "check_workflows.py", clone).strip())


def check_docs(clone: Path) -> None:
    """The documentation is made, and the image copies files that are there."""
    run(sys.executable, clone / "docs" / "site_pages.py", clone / "build" / "docs", PYTHONPATH=str(clone))
    pages = len(list((clone / "build" / "docs").rglob("*.html")))
    copied = re.findall(r"^COPY (.*) \S+$", (clone / "Dockerfile").read_text(), re.MULTILINE)
    names = [name for line in copied for name in line.split() if name != "bot.toml"]
    missing = [name for name in names if not (clone / name).exists() and "*" not in name]
    if missing or not pages:
        raise ReleaseError(f"the image copies {', '.join(missing)}, which is not there; {pages} pages")
    print(f"  {pages} pages, and all files of the image")


def main() -> int:
    """Take all steps; 1 where one finds something, which is printed."""
    faults = 0
    with tempfile.TemporaryDirectory(prefix="release-") as made:
        folder = Path(made)
        clone = clean_clone(folder)
        wheel, sdist = build(clone)
        steps: list[tuple[str, Callable[[], None]]] = [
            ("versions", lambda: check_versions(clone, wheel)),
            ("the wheel", lambda: check_wheel(wheel)),
            ("action.yml", lambda: check_action(clone)),
            ("pins", lambda: check_pins(clone)),
            ("workflows", lambda: check_workflows(clone)),
            ("documentation and image", lambda: check_docs(clone)),
            ("the command of the README", lambda: check_readme(clone, folder)),
            ("installed", lambda: check_installed(wheel, sdist, folder)),
            ("tests of the sdist", lambda: check_sdist(sdist, folder, os.environ.get("TESTS", ""))),
        ]
        for name, step in steps:
            print(f"{name}:", flush=True)
            try:
                step()
            except (ReleaseError, OSError, KeyError, ValueError) as error:
                faults += 1
                print(f"  FAILED: {error}", flush=True)
    print(f"{faults} of {len(steps)} steps failed" if faults else "ready for a release")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
