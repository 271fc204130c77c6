"""Work that several processes share: in order, with the errors of the work, and ended when it must end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Run in a process of its own: a fork of the test runner would copy its threads.
HEAD = """
import os, signal, sys, time
from bot.errors import BotError, Unavailable
from bot.cli.processes import choose_jobs, run_jobs
"""


def python(code: str) -> tuple[str, str]:
    done = subprocess.run([sys.executable, "-c", HEAD + code], capture_output=True, text=True, check=False, cwd=ROOT)
    return done.stdout.strip(), done.stderr.strip()


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow), 7])
def test_results_come_in_the_order_of_the_items(jobs: int) -> None:
    code = f"""
def work(n):
    time.sleep(0.002 * (n % 3))
    return n * n, os.getpid()
found = list(run_jobs(work, range(50), {jobs}))
print([square for square, _ in found] == [n * n for n in range(50)], os.getpid() in {{pid for _, pid in found}})
"""
    assert python(code) == (f"True {jobs == 1}", "")


def test_work_is_copied_to_each_process_once() -> None:
    code = """
class Counting:
    calls = 0
    def __getstate__(self): raise TypeError("copied again")
    def __call__(self, n):
        self.calls += 1
        return self.calls
print(sum(n == 1 for n in run_jobs(Counting(), range(100), 2)) <= 2)
"""
    assert python(code) == ("True", "")


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_error_of_the_work_is_raised_as_it_is(jobs: int) -> None:
    code = f"""
def work(n):
    if n == 5:
        raise Unavailable("the Hub", "no answer", retry_after=3)
    return n
try:
    for n in run_jobs(work, range(40), {jobs}):
        print(n, end=" ")
except Unavailable as error:
    print(error, error.retry_after, error.status)
"""
    assert python(code) == ("0 1 2 3 4 the Hub could not be reached: no answer 3 3", "")


def test_a_process_that_is_killed_is_one_line_and_no_hang() -> None:
    code = """
def work(n):
    if n == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return n
try:
    list(run_jobs(work, range(20), 2))
except BotError as error:
    print(error)
"""
    assert python(code) == ("a worker process ended early, perhaps for lack of memory; run it with --jobs 1", "")


def test_as_many_processes_as_pay_or_as_are_asked_for() -> None:
    code = "print(choose_jobs(5, 1), choose_jobs(0, 0), choose_jobs(0, 1), choose_jobs(0, 10**6) >= 1)"
    assert python(code) == ("5 1 1 True", "")


def test_parts_of_several_items_come_in_their_order() -> None:
    code = "print(list(run_jobs(abs, range(-9, 0), 2, part=4)))"
    assert python(code) == ("[9, 8, 7, 6, 5, 4, 3, 2, 1]", "")


def test_new_interpreters_do_the_same_as_copies() -> None:
    code = "sys.platform = 'other'; print(list(run_jobs(abs, range(-9, 0), 2, part=4)))"
    assert python(code) == ("[9, 8, 7, 6, 5, 4, 3, 2, 1]", "")


@pytest.mark.parametrize("group", [False, True])
def test_an_interrupt_ends_all_processes_without_a_traceback(*, group: bool) -> None:
    code = """
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background ignores it
def work(n):
    os.write(1, f"{os.getpid()}\\n".encode())
    time.sleep(600)
try:
    list(run_jobs(work, range(2), 2))
except KeyboardInterrupt:
    print("interrupted")
"""
    command = [sys.executable, "-c", HEAD + code]
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
    )
    assert child.stdout is not None
    workers = [int(child.stdout.readline()) for _ in range(2)]
    (os.killpg if group else os.kill)(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert (out, err) == ("interrupted\n", "")
    assert not any(map(is_running, workers))


def test_workers_end_when_their_parent_is_killed() -> None:
    code = """
def work(n):
    os.write(1, f"{os.getpid()}\\n".encode())
    time.sleep(600)
list(run_jobs(work, range(2), 2))
"""
    with subprocess.Popen([sys.executable, "-c", HEAD + code], stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        for _ in range(2):
            child.stdout.readline()
        child.kill()
        # The pipe reaches its end when the last process that could write to it is gone.
        assert child.stdout.read() == ""


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "zombie" not in Path(f"/proc/{process}/status").read_text(encoding="utf-8")


def test_new_processes_import_nothing_from_the_working_folder(tmp_path: Path) -> None:
    """Where processes are spawned, as on macOS, a new interpreter would look for its modules in a stranger's folder."""
    for name in ("multiprocessing", "re", "json", "pickle"):
        (tmp_path / f"{name}.py").write_text("open('canary', 'a')")
    script = tmp_path / "ours" / "command.py"
    script.parent.mkdir()
    script.write_text(
        f'{HEAD}if __name__ == "__main__":\n    sys.platform = "darwin"\n    print(*run_jobs(abs, [-1, 2], 2))'
    )
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONSAFEPATH"} | {"PYTHONPATH": str(ROOT)}

    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, cwd=tmp_path, env=environ, timeout=60
    )
    assert (done.stdout.strip(), done.stderr) == ("1 2", "")
    assert not (tmp_path / "canary").exists()
