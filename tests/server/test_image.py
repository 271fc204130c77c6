"""The steps of the Dockerfile where no container engine is: a fresh environment, and a namespace as the image has it.

The namespace is user 1000 on a file system that is read-only but for the home and /tmp, as with
`docker run --read-only --tmpfs /home/user --tmpfs /tmp`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.stories import SETTINGS
from tests.world.hub import Hub
from tests.world.results import TINY, path_of, result

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
LOCKED = ROOT / "requirements-image.txt"
UV = shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")
SPACE = """
set -e
mount --bind "$IMAGE" "$IMAGE"
mount -o remount,bind,ro "$IMAGE"
mount -t tmpfs tmpfs "$IMAGE/home"
mount -o remount,bind,ro /
exec unshare --user --map-user=1000 --map-group=1000 -- "$@"
"""


def uv(*words: str, **more: str) -> str:
    environment = {**os.environ, "UV_OFFLINE": "1", "UV_PYTHON_DOWNLOADS": "never", **more}
    done = subprocess.run([UV, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_packages_of_the_image_are_those_of_the_lock() -> None:
    words = "export --frozen --no-default-groups --extra postgres --no-emit-project --no-annotate --no-header --quiet"

    assert uv(*words.split()) == LOCKED.read_text(), "make image-lock"


def test_every_package_has_a_digest_and_nothing_is_built() -> None:
    packages = re.split(r"\n(?=\S)", LOCKED.read_text().strip())

    assert [package for package in packages if "--hash=sha256:" not in package or "==" not in package] == []
    assert "--require-hashes --only-binary :all:" in DOCKERFILE
    assert "ARG PYTHON_IMAGE=" in DOCKERFILE


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the Dockerfile makes: an environment from the lock, the package beside it, and the command."""
    image = tmp_path_factory.mktemp("image")
    words = "sync --quiet --frozen --no-default-groups --extra postgres --no-install-project --no-build"
    uv(*words.split(), "--python", sys.executable, UV_PROJECT_ENVIRONMENT=str(image / "env"))
    (image / "app").mkdir()
    (image / "home").mkdir()
    for name in re.findall(r"^COPY (?!requirements|bot\.toml)(.*) \S+$", DOCKERFILE, re.MULTILINE):
        for word in name.split():
            copy = shutil.copytree if (ROOT / word).is_dir() else shutil.copy
            copy(ROOT / word, image / "app" / word)  # type: ignore[operator]
    [script] = re.findall(r"^RUN printf '(.*)' > \S+/leaderboard-bot", DOCKERFILE, re.MULTILINE)
    command = image / "env" / "bin" / "leaderboard-bot"
    command.write_text(script.replace("\\n", "\n"))
    command.chmod(0o755)
    return image


@pytest.fixture
def settings(image: Path, hub: Hub) -> Iterator[Hub]:
    """A watch on the local Hub, as `bot.toml` of the image."""
    (image / "app" / "bot.toml").write_text(SETTINGS.format(form="pull-request", style="entry", limit=20, more=""))
    (image / "app" / "tiny.toml").write_text(TINY)
    source = hub.repository("acme/results")
    hub.repository("acme/contents")
    hub.push(source, {path_of(): result()})
    yield hub
    (image / "app" / "bot.toml").unlink()


def run(image: Path, hub: Hub, *words: str, prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a command with the variables of the image and nothing else."""
    environment = {
        "PATH": f"{image / 'env' / 'bin'}:/usr/bin:/bin",
        "IMAGE": str(image),
        "HOME": str(image / "home"),
        "PYTHONPATH": str(image / "app"),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "LEADERBOARD_BOT_CONFIG": str(image / "app" / "bot.toml"),
        "DATABASE_URL": f"sqlite:///{image / 'home' / 'bot.db'}",
        "HF_TOKEN": hub.person("bot"),
        "HF_ENDPOINT": hub.url,
        "TMPDIR": str(image / "home"),
    }
    return subprocess.run(
        [*prefix, *words], cwd=image / "app", env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.slow
def test_a_fresh_environment_of_the_lock_settles(image: Path, settings: Hub) -> None:
    done = run(image, settings, "leaderboard-bot", "settle")

    assert (done.returncode, done.stderr) == (0, "")
    assert len(settings.requests(settings.repositories["dataset", "acme/contents"])) == 1
    (image / "home" / "bot.db").unlink()


@pytest.mark.slow
def test_it_settles_as_user_1000_on_a_read_only_file_system(image: Path, settings: Hub) -> None:
    prefix = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", SPACE, "sh")
    told = run(image, settings, "sh", "-c", "id -u; touch /etc/x app/x ../env/x 2>&1; touch $HOME/x", prefix=prefix)
    if told.returncode != 0 and "unshare" in told.stderr:
        pytest.skip("this machine gives no namespaces")
    assert told.stdout.splitlines()[0] == "1000", told.stderr
    assert told.stdout.count("Read-only file system") >= 2, told.stdout

    done = run(image, settings, "leaderboard-bot", "settle", prefix=prefix)
    assert done.returncode == 0, done.stderr
    assert len(settings.requests(settings.repositories["dataset", "acme/contents"])) == 1
    assert not (image / "home" / "bot.db").exists()  # it lay in the namespace's own home
    assert "✗" not in run(image, settings, "leaderboard-bot", "rules", prefix=prefix).stdout
