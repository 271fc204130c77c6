"""Jobs of Harbor: `jobs/<job>/result.json`, the rewards of all trials of an agent with a model on a dataset.

Read from the source of release 0.26.0 (harbor/models/job/result.py, harbor/metrics) and jobs of
ryanbbrown/ThinHarness-terminal-bench at 1f24cb4. A leaf is a dataset. The job names the model without its provider, and
no version of the dataset or of Harbor; the agent is a setting, so that two agents never share a row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain
from math import ceil, fsum, isclose, isfinite, nan, sqrt
from typing import Any, TypeVar

from bot.errors import MalformedResult
from bot.evaluation.finding import examples
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import LARGEST, items, number, number_in, seconds, table, text, whole
from bot.evaluation.formats.format import Format, Kind, has_keys, stderr_after
from bot.evaluation.result import HarnessVersion, LeafResult, Model, Result

T = TypeVar("T")
TOLERANCE = 1e-6  # of a recorded mean; some readers round it
BETWEEN = "__"  # the agent, the model and the dataset in the name of an evaluation, a task and its trial in a trial's
PLACES = {
    "model": "/stats/evals",
    "leaves": "/stats/evals",
    "leaf": "/stats/evals/{leaf}",
    "value": "/stats/evals/{leaf}/metrics",
    "samples": "/stats/evals/{leaf}/reward_stats",
    "unscored": "/stats/evals/{leaf}/exception_stats",
    "unfinished": "/stats",
    "date": "/finished_at",
}


def recognise(content: Content) -> bool:
    """Recognise it by the number of all trials, and statistics."""
    top = content.bare
    return "n_total_trials" in top and type(top.get("stats")) is dict


def parse(content: Content) -> Result:
    """Read the job. Raises MalformedResult if it has several agents or models, or none."""
    top = content.bare
    evals = table(top["stats"].get("evals"))
    named = {key: _parts(key) for key in evals}
    of = list(dict.fromkeys((agent, model) for agent, model, _ in named.values()))
    if len(of) != 1:
        several = examples([f"{agent} with {model or 'no model'}" for agent, model in of])
        why = f"holds the trials of {several}: a submission is of one agent with one model" if of else "holds no trial"
        hint = "run a job for each" if of else "let the job run to its end"
        raise MalformedResult(why, hint=hint, pointer="/stats/evals")
    [(agent, model)] = of
    return Result(
        model=Model(id=model),
        harness=HarnessVersion("harbor", repository="harbor-framework/harbor"),
        leaves={dataset: _leaf(table(evals[key])) for key, (_, _, dataset) in named.items()},
        date=seconds(text(top.get("finished_at"))),
        settings={"agent": agent},
        places=PLACES,
        original_keys={dataset: key for key, (_, _, dataset) in named.items()},
        unfinished=_unfinished(top),
    )


def _parts(key: str) -> tuple[str, str, str]:
    """The agent, the model ("" where there is none) and the dataset of an evaluation."""
    agent, _, rest = key.partition(BETWEEN)
    model, _, dataset = rest.rpartition(BETWEEN)
    return agent, model, dataset


def _unfinished(top: Mapping[str, Any]) -> str:
    """How many of the trials ended, "" if all did."""
    stats, total = top["stats"], whole(top["n_total_trials"])
    ended = whole(stats.get("n_completed_trials", stats.get("n_trials")))
    is_whole = text(top.get("finished_at")) and (ended is None or total is None or ended >= total)
    return "" if is_whole else f"{ended or 0} of {total or 0} trials"


def _leaf(stats: Mapping[str, Any]) -> LeafResult:
    """The metrics of one evaluation, and how many tasks were tried how often.

    A trial that ended in an error has no reward. It counts as 0 in some releases, and is missing from the mean in
    others: the recorded mean tells.
    """
    numbers = _once((pair for one in items(stats.get("metrics")) for pair in table(one).items()), "metric")
    numbers |= {f"pass@{k}": value for k, value in table(stats.get("pass_at_k")).items()}
    kinds, mean = _kinds(stats), number(numbers.get("mean"))
    rewards = kinds[0] if len(kinds) == 1 else dict.fromkeys(chain.from_iterable(kinds), nan)
    named = [trial for trials in table(stats.get("exception_stats")).values() for trial in _names(trials)]
    failed = [trial for trial in dict.fromkeys(named) if trial not in rewards]
    _check_mean(mean, rewards, max(len(rewards) + len(failed), whole(stats.get("n_trials")) or 0))
    counts_failed = mean is not None and isclose(mean * (len(rewards) + len(failed)), fsum(rewards.values()))
    scored = rewards | dict.fromkeys(failed, 0.0) if counts_failed else rewards
    tries = Counter(_task(trial) for trial in scored)
    often = Counter(tries.values())
    epochs = max(sorted(often), key=often.__getitem__, default=1)
    if mean is not None and len(tries) > 1 and isclose(mean * len(scored), fsum(scored.values())):
        numbers["mean_stderr"] = _standard_error(scored, mean)
    return LeafResult(
        numbers,
        samples=sum(ceil(count / epochs) for count in tries.values()),  # the name of a task is cut to 32 characters
        unscored=None if mean is None else 0 if counts_failed else len(failed),
        epochs=epochs,
        reducer="mean" if epochs > 1 else "",
    )


def _kinds(stats: Mapping[str, Any]) -> list[dict[str, float]]:
    """The rewards by trial, of each kind of reward; nearly all verifiers give one kind."""
    kinds = [table(kind).items() for kind in table(stats.get("reward_stats")).values()]
    found = (((trial, _reward(value)) for value, trials in kind for trial in _names(trials)) for kind in kinds)
    return [_once(rewards, "reward of a trial") for rewards in found]


def _once(pairs: Iterable[tuple[str, T]], what: str) -> dict[str, T]:
    """The values by their names. Raises MalformedResult for a name that has several."""
    found: dict[str, T] = {}
    for name, value in pairs:
        known = found.setdefault(name, value)
        if known is not value and known != value:
            raise MalformedResult(f"holds a {what} twice", pointer="/stats/evals")
    return found


def _check_mean(mean: float | None, rewards: Mapping[str, float], most: int) -> None:
    """Raise MalformedResult for a mean that the rewards do not give, over those trials or at most so many."""
    total = fsum(rewards.values())
    if mean is None or not rewards or not isfinite(mean) or not isfinite(total):
        return
    least, greatest = sorted((total / len(rewards), total / most))
    if not least - TOLERANCE <= mean <= greatest + TOLERANCE:
        why = f"has a mean of {mean!r}, but the rewards of its trials give {total / len(rewards)!r}"
        raise MalformedResult(why, hint="upload the file as Harbor wrote it", pointer="/stats/evals")


def _reward(value: str) -> float:
    """A reward, NaN where it is none, or so large that sums of it would overflow."""
    reward = number_in(value)
    return reward if reward is not None and abs(reward) <= LARGEST else nan


def _names(trials: object) -> list[str]:
    return [trial for trial in items(trials) if type(trial) is str]


def _task(trial: str) -> str:
    return trial.rpartition(BETWEEN)[0]


def _standard_error(rewards: Mapping[str, float], mean: float) -> float:
    """The standard error of a mean over trials, those of one task taken together (Miller 2024, clustered errors).

    With one trial for each task it is the standard deviation with n - 1 over sqrt(n).
    """
    clusters: dict[str, float] = defaultdict(float)
    for trial, reward in rewards.items():
        clusters[_task(trial)] += reward - mean
    squares = fsum(deviation**2 for deviation in clusters.values())
    return sqrt(squares * len(clusters) / (len(clusters) - 1)) / len(rewards)


HARBOR = Format(
    id="harbor",
    title="Harbor",
    recognise=recognise,
    parse=parse,
    stderr_key=stderr_after,
    naming="",
    pinning="",
    limiting="--n-tasks",
    shows=frozenset({"samples"}),
    has_order=True,
    others=(
        Kind(
            "harbor",
            "a trial of Harbor",
            "name the result.json of its job, one folder above",
            has_value=has_keys("trial_name", "agent_info", "verifier_result"),
        ),
    ),
)
