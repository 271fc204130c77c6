"""Work that several processes share: in order, with the errors of the work, and ended when it must end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Run in a process of its own: a fork of the test runner would copy its threads.
HEAD = """
import os, signal, sys, time
from bot.errors import BotError, Unavailable
from bot.processes import choose_jobs, processors, run_jobs, share_work
"""


def python(code: str) -> tuple[str, str]:
    done = subprocess.run([sys.executable, "-c", HEAD + code], capture_output=True, text=True, check=False, cwd=ROOT)
    return done.stdout.strip(), done.stderr.strip()


@pytest.mark.parametrize("jobs", [1, 2, 7])
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


def test_items_are_taken_only_as_fast_as_results_are_used() -> None:
    code = """
class Items(list):
    taken = 0
    def __iter__(self):
        for n in range(1000):
            Items.taken = n
            yield n
    def __len__(self): return 1000
results = run_jobs(abs, Items(), 2)
next(results)
print(Items.taken < 20)
results.close()
"""
    assert python(code) == ("True", "")


def test_as_many_processes_as_pay_or_as_are_asked_for() -> None:
    code = "print(choose_jobs(5, 1), choose_jobs(0, 0), choose_jobs(0, 1), choose_jobs(0, 10**6) == processors())"
    assert python(code) == ("5 1 1 True", "")


@pytest.mark.parametrize("group", [False, True])
@pytest.mark.parametrize(
    ("call", "count"), [("list(run_jobs(work, range(2), 2))", 2), ("share_work(work, range(3), 3)", 3)]
)
def test_an_interrupt_ends_all_processes_without_a_traceback(call: str, count: int, *, group: bool) -> None:
    code = f"""
def work(n):
    os.write(1, f"{{os.getpid()}}\\n".encode())
    time.sleep(600)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted")
"""
    command = [sys.executable, "-c", HEAD + code]
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
    )
    assert child.stdout is not None
    workers = [int(child.stdout.readline()) for _ in range(count)]
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


@pytest.mark.parametrize("jobs", [1, 2, 7])
@pytest.mark.parametrize("count", [0, 1, 50, 2_345])
def test_shared_work_is_in_the_order_of_the_items_and_done_once(jobs: int, count: int) -> None:
    code = f"""
def work(n):
    os.write(2, b".")
    if {count} == 50:
        time.sleep(0.002 * (n % 3))
    return n * n, os.getpid()
found = share_work(work, range({count}), {jobs})
pids = {{pid for _, pid in found}}
print([square for square, _ in found] == [n * n for n in range({count})], len(pids) <= {jobs})
print(len(pids), os.getpid() in pids)
"""
    out, err = python(code)
    checked, seen = out.splitlines()
    assert (checked, err) == ("True True", "." * count)
    if count == 50:
        assert seen.endswith("True")
        assert (int(seen.split()[0]) > 1) == (jobs > 1)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_the_first_error_of_shared_work_is_raised_and_all_stop(jobs: int) -> None:
    code = f"""
def work(n):
    os.write(1, b".")
    time.sleep(0.005)
    if n % 7 == 5:
        raise Unavailable("the Hub", f"no answer to {{n}}", retry_after=3)
try:
    share_work(work, range(900), {jobs})
except Unavailable as error:
    print(error, error.retry_after, error.status)
"""
    out, err = python(code)
    assert (out.lstrip("."), err) == ("the Hub could not be reached: no answer to 5 3 3", "")
    assert out.count(".") < 30


@pytest.mark.parametrize("how", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(0)", "sys.exit(0)"])
def test_a_copy_that_ends_early_is_one_line_and_no_hang(how: str) -> None:
    code = f"""
first = os.getpid()
def work(n):
    time.sleep(0.01)
    if os.getpid() != first:
        {how}
    return n
try:
    share_work(work, range(20), 3)
except BotError as error:
    print(error)
"""
    assert python(code) == ("a worker process ended early, perhaps for lack of memory; run it with --jobs 1", "")


@pytest.mark.parametrize("started", [0, 1])
def test_a_system_that_starts_no_more_processes_leaves_the_work_to_those_that_are_there(started: int) -> None:
    code = f"""
fork, left = os.fork, [None] * {started}
def limited():
    if not left:
        raise BlockingIOError(11, "Resource temporarily unavailable")
    left.pop()
    return fork()
os.fork = limited
before = len(os.listdir("/proc/self/fd"))
print(share_work(lambda n: n * n, range(50), 3) == [n * n for n in range(50)])
print(len(os.listdir("/proc/self/fd")) == before)
"""
    assert python(code) == ("True\nTrue", "")


def test_copies_end_after_their_turn_when_their_parent_is_killed() -> None:
    code = """
first = os.getpid()
def work(n):
    os.write(1, b".")
    time.sleep(0.1)
    if os.getpid() == first and n > 5:
        os.kill(first, signal.SIGKILL)
    return b"x" * 1_000_000
share_work(work, range(900), 3)
"""
    with subprocess.Popen([sys.executable, "-c", HEAD + code], stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdout is not None
        assert len(child.stdout.read()) < 30


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "zombie" not in Path(f"/proc/{process}/status").read_text(encoding="utf-8")
