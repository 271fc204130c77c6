"""Renews the definitions of the shipped boards' leaves in bot/data/definitions/ from the harness's own task files.

    uv run --with pip python .github/renew_definitions.py [FORK]

The releases come from the package index (`pip download`, without their dependencies), the commits of the fork from a
clone, which is made where none is named. Nothing of the harness is run, and no model or data set is loaded: each task
file is merged with those that it includes, and a function stands as its source, as the harness writes it into results.
Release 0.4.6 is not on the index: its files are held against the definitions of the releases around it.
"""

# ruff: noqa: INP001, T201 -- a script that prints, in a folder that is no package
from __future__ import annotations

import ast
import io
import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from bot.evaluation.definition import canonical, digest_of, digest_of_fields
from bot.evaluation.formats.fields import canonical_version
from bot.evaluation.formats.lm_eval_04 import DECIDING, deciding
from bot.evaluation.leaderboard import Accepted, Leaderboard, load_leaderboard

FOLDER = Path(__file__).resolve().parent.parent / "bot" / "data" / "definitions"
FORK = "huggingface/lm-evaluation-harness"
FORMAT = "lm-eval-0.4"
BOARDS = ("open-llm-v1", "open-llm-v2")
NOT_THERE = ("0.4.6",)
# What the harness sets where a task's file says nothing, as far as it decides.
WRITTEN = {"output_type": "generate_until", "fewshot_delimiter": "\n\n"}
SOURCES = {"metric_list": 2}  # levels in which functions stand as their source


class Function(str):
    """A function of a task file: the path of its module without `.py`, a full stop, and its name."""

    __slots__ = ()


class Loader(yaml.SafeLoader):
    """YAML whose `!function` is a `Function` beside the file."""

    folder: Path


def _function(loader: Loader, node: yaml.ScalarNode) -> Function:
    return Function(loader.folder / str(loader.construct_scalar(node)))


Loader.add_constructor("!function", _function)


def merged(path: Path) -> dict[str, Any]:
    """A task file with those that it includes."""
    loader = Loader(path.read_text(encoding="utf-8"))
    loader.folder = path.parent
    own = loader.get_single_data()
    included = own.pop("include", [])
    below: dict[str, Any] = {}
    for name in [included] if isinstance(included, str) else included:
        below |= merged(path.parent / name)
    return below | own


def source(function: Function) -> str:
    """The text of a function as `inspect.getsource` gives it."""
    module, _, name = function.rpartition(".")
    text = Path(f"{module}.py").read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return "".join(text.splitlines(keepends=True)[first - 1 : node.end_lineno])
    raise SystemExit(f"{module}.py does not define {name}")


def written(value: Any, sources: int = 0) -> Any:
    """A value as the harness writes it: a function as its source, below that many levels by its name alone."""
    if isinstance(value, Function):
        return source(value) if sources >= 0 else f"<function {value.rpartition('.')[2]}>"
    if isinstance(value, dict):
        return {name: written(inner, sources - 1) for name, inner in value.items()}
    if isinstance(value, list):
        return [written(inner, sources - 1) for inner in value]
    return value


def configuration(path: Path) -> dict[str, Any]:
    """What a result's `configs` has for a task without options of the call."""
    config = WRITTEN | {name: written(value, SOURCES.get(name, 0)) for name, value in merged(path).items()}
    if config["output_type"] == "generate_until":
        stops = {"until": [config["fewshot_delimiter"]]}
        config["generation_kwargs"] = stops | (config.get("generation_kwargs") or {})
    return config


def task_paths(tasks: Path, wanted: set[str]) -> dict[str, Path]:
    """The files of tasks by their names."""
    found = {}
    for path in sorted(tasks.rglob("*.yaml")):
        names = [line.partition(":")[2].strip(" \"'") for line in path.read_text("utf-8").splitlines()
                 if line.partition(":")[0].strip("\"'") == "task"]  # fmt: skip
        found |= {name: path for name in names if name in wanted}
    return found


def releases(names: list[str], folder: Path) -> Iterator[tuple[str, Path]]:
    """The task files of releases of the package index."""
    for name in names:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
        if not (wheels := list(folder.glob(f"lm_eval-{name}-*.whl"))):
            subprocess.run([*pip, f"lm-eval=={name}"], check=True)
            wheels = list(folder.glob(f"lm_eval-{name}-*.whl"))
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(folder / name)  # noqa: S202 - the zip module keeps members below the folder
        yield name, folder / name / "lm_eval" / "tasks"


def commits(names: list[str], clone: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """The task files of commits of the fork."""
    for name in names:
        command = ["git", "-C", str(clone), "archive", name, "lm_eval/tasks"]
        data = subprocess.run(command, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as tree:
            tree.extractall(folder / name, filter="data")
        yield name, folder / name / "lm_eval" / "tasks"


def renew(board: Leaderboard, span: Accepted, found: Iterator[tuple[str, Path]]) -> None:
    """Write the definitions of one accepted range of a board."""
    keys = {leaf.key(FORMAT): leaf.id for _, leaf in board.leaves()}
    values: dict[str, str] = {}
    definitions: dict[str, dict[str, str]] = {}
    leaves: dict[str, dict[str, list[str]]] = {leaf_id: {} for leaf_id in keys.values()}
    task_versions: dict[str, dict[str, list[str]]] = {key: {} for key in keys}
    asked = []
    for name, tasks in found:
        paths = task_paths(tasks, set(keys))
        missing = keys.keys() - paths.keys()
        print(f"{board.id}: {name} has {len(paths)} of {len(keys)} leaves", *sorted(missing)[:3])
        asked.append(name)
        for key, path in paths.items():
            config = configuration(path)
            decides = deciding({field: one for field in DECIDING if (one := config.get(field)) is not None})
            texts = {field: canonical(value) for field, value in decides.items()}
            digests = {field: digest_of(text) for field, text in texts.items()}
            values |= dict(zip(digests.values(), texts.values(), strict=True))
            digest = digest_of_fields(digests)
            definitions[digest] = digests
            leaves[keys[key]].setdefault(digest, []).append(name)
            version = canonical_version(config["metadata"]["version"])
            task_versions[key].setdefault(version, []).append(name)
    content = {"repository": span.repository, "asked": asked, "leaves": leaves, "task_versions": task_versions,
               "definitions": definitions, "values": dict(sorted(values.items()))}  # fmt: skip
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{board.id}-{span.repository.partition('/')[0].lower()}.json"
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{path.name}: {len(values)} values, {path.stat().st_size:,} bytes")


def main() -> None:
    """Get what is not named, and renew the files of all boards."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clone = Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "fork"
        if not clone.exists():
            subprocess.run(["git", "clone", "--bare", "--quiet", f"https://github.com/{FORK}", str(clone)], check=True)
        for board in map(load_leaderboard, BOARDS):
            for span in board.harness.accepted:
                if span.formats and FORMAT not in span.formats:
                    continue
                if span.repository == FORK:
                    renew(board, span, commits(list(span.commits), clone, folder))
                else:
                    wanted = [one for one in span.releases if one not in NOT_THERE]
                    renew(board, span, releases(wanted, folder))


if __name__ == "__main__":
    main()
