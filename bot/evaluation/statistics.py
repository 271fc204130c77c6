"""Whether two measurements differ by more than chance: p-values, intervals, Holm's correction.

Each function takes plain numbers: counts of questions, or means with standard errors. A difference is always second
minus first. Sources: McNemar (1947) with the exact binomial; Tango, Statistics in Medicine 17 (1998) 891; Newcombe,
Statistics in Medicine 17 (1998) 873, method 10; Fisher's exact test; Zou and Donner, Statistics in Medicine 27 (2008)
1693, for the mean of several differences; Holm, Scandinavian Journal of Statistics 6 (1979) 65; Miller,
arXiv 2411.00640, for errors of clustered questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import comb, exp, fsum, inf, isinf, lgamma, log, log1p, sqrt
from statistics import NormalDist

NORMAL = NormalDist()
LEVEL = 0.05  # a difference is one where p is below; intervals cover the rest
FEWEST_TASKS = 6  # of a sign test over tasks: chance alone wins all of five in one of sixteen comparisons
POWER = 0.8  # of the smallest difference that a comparison could have shown
TIE = 1e-9  # two probabilities this close are the same in Fisher's test
FEW = 100  # questions of both, up to which it is asked whether Fisher's test can show anything
STEPS = 200  # of a bisection, which ends at the precision of a double

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Contrast:
    """A difference with its uncertainty.

    `interval` gives the two ends at a level, such as 0.05 for 95 %. `p` and `stderr` are None where the error is
    unknown. `step` is the smallest amount by which the difference could change, 0 where it is no count. `least_p` is
    the smallest p that so few questions can give.
    """

    difference: float
    stderr: float | None
    p: float | None
    interval: Callable[[float], Interval]
    step: float = 0.0
    least_p: float = 0.0

    def smallest(self, level: float = LEVEL) -> float | None:
        """The smallest difference that a test of a level would show with a power of 80 % at most.

        None without an error, and of so few questions that no difference has a p below the level. At 5 % these are 2.8
        standard errors where the interval reaches 1.96 to both sides; the interval also knows of an error where all
        answers of both are wrong.
        """
        if self.p is None or self.least_p >= level:
            return None
        low, high = self.interval(level)
        return (1 + NORMAL.inv_cdf(POWER) / quantile(level)) * (high - low) / 2


def quantile(level: float) -> float:
    """How many standard errors a two-sided interval reaches: 1.96 for 0.05."""
    return NORMAL.inv_cdf(1 - level / 2)


def paired_exact(both: int, first: int, second: int, neither: int) -> Contrast:
    """Compare right answers on the same questions: McNemar's exact test, Tango's interval.

    The counts are questions that both runs answer right, only the first, only the second, and neither of them.
    """
    n = both + first + second + neither
    difference = (second - first) / n
    error = sqrt(max(0.0, (first + second) / n - difference * difference) / max(1, n - 1))
    p, least = mcnemar_p(first, second), mcnemar_p(0, n)
    return Contrast(difference, error, p, lambda level: tango(second, first, n, level), 1 / n, least)


def mcnemar_p(first: int, second: int) -> float:
    """The two-sided binomial p of `first` among the questions on which two runs differ, at 1/2."""
    few, n = min(first, second), first + second
    if first == second:
        return 1.0
    term = comb(n, few) / (1 << n)
    terms = [term]
    for k in range(few, 0, -1):
        term *= k / (n - k + 1)
        if term < terms[0] * 1e-18:
            break
        terms.append(term)
    return min(1.0, 2 * fsum(terms))


def tango(more: int, less: int, n: int, level: float = LEVEL) -> Interval:
    """Tango's score interval of (more - less) / n, for the discordant counts of n pairs."""
    z = quantile(level)

    def score(delta: float) -> float:
        linear = (2 * n - more + less) * delta - more - less
        root = sqrt(max(0.0, linear * linear + 8 * n * less * delta * (1 - delta)))
        share = (root - linear) / (4 * n)  # of questions on which only the lesser run is right, if delta holds
        variance = n * (2 * share + delta * (1 - delta))
        distance = more - less - n * delta
        if variance <= 0:
            return inf if distance > 0 else -inf if distance < 0 else 0.0
        return distance / sqrt(variance)

    middle = (more - less) / n
    return _root(lambda delta: score(delta) - z, -1.0, middle), _root(lambda delta: score(delta) + z, middle, 1.0)


def clustered(sums: Sequence[tuple[float, int]]) -> Contrast:
    """Compare the scores of questions that come in clusters, such as several about one passage.

    Of each cluster the sum of its questions' differences, and how many these are. The error sums within a cluster first
    (Miller, section 2.2), with the factor k / (k - 1) for k clusters, and t with k - 1 degrees.
    """
    n, k = sum(size for _, size in sums), len(sums)
    mean = fsum(total for total, _ in sums) / n
    if k == 1:
        return without_error(mean)
    error = sqrt(k / (k - 1) * fsum((total - size * mean) ** 2 for total, size in sums)) / n
    return t_test(mean, error, k - 1)


def t_test(difference: float, error: float, degrees: int) -> Contrast:
    """A difference with its standard error and the degrees of freedom behind it; an error of 0 says nothing of one."""
    if difference and not error:
        return without_error(difference)
    p = t_p(difference / error, degrees) if error else 1.0
    return _symmetric(difference, error, p, lambda level: t_quantile(level, degrees))


def t_p(t: float, degrees: int) -> float:
    """The two-sided p of Student's t: the regularized incomplete beta function at degrees / (degrees + t^2)."""
    return _beta(degrees / 2, 0.5, degrees / (degrees + t * t))


def t_quantile(level: float, degrees: int) -> float:
    """How many standard errors a two-sided interval of Student's t reaches."""
    high = 1.0
    while t_p(high, degrees) > level:
        high *= 2
    return _root(lambda t: t_p(t, degrees) - level, 0.0, high)


def without_error(difference: float) -> Contrast:
    """A difference whose error is unknown."""
    return Contrast(difference, None, None, lambda _: (-inf, inf))


def independent(first: float, second: float, errors: tuple[float, float]) -> Contrast:
    """Compare two means of different samples by their standard errors; two of 0 say nothing."""
    error = sqrt(errors[0] ** 2 + errors[1] ** 2)
    difference = second - first
    if not error:
        return without_error(difference)
    return _symmetric(difference, error, 2 * NORMAL.cdf(-abs(difference / error)), quantile)


def _symmetric(difference: float, error: float, p: float | None, reach: Callable[[float], float]) -> Contrast:
    """A difference whose interval at a level reaches so many errors to both sides."""
    return Contrast(
        difference, error, p, lambda level: (difference - reach(level) * error, difference + reach(level) * error)
    )


def independent_counts(first: tuple[int, int], second: tuple[int, int]) -> Contrast:
    """Compare right answers among different questions, each as (right, questions): Fisher's p, Newcombe's interval."""
    (a, n), (b, m) = first, second
    error = sqrt(a * (n - a) / n**2 / max(1, n - 1) + b * (m - b) / m**2 / max(1, m - 1))
    p, least = fisher_p(a, n - a, b, m - b), fisher_p(0, n, m, 0) if n + m <= FEW else 0.0
    return Contrast(b / m - a / n, error, p, lambda level: newcombe((b, m), (a, n), level), 1 / max(n, m), least)


def fisher_p(a: int, b: int, c: int, d: int) -> float:
    """The two-sided p of Fisher's exact test of the table ((a, b), (c, d)): all tables that are no likelier."""
    rows, column = (a + b, c + d), a + c
    low, high = max(0, column - rows[1]), min(column, rows[0])
    mode = min(high, max(low, (column + 1) * (rows[0] + 1) // (rows[0] + rows[1] + 2)))
    odds = {mode: 0.0}  # logarithms of probabilities, relative to the mode
    for k in range(mode, high):
        odds[k + 1] = odds[k] + log((rows[0] - k) * (column - k) / ((k + 1) * (rows[1] - column + k + 1)))
    for k in range(mode, low, -1):
        odds[k - 1] = odds[k] - log((rows[0] - k + 1) * (column - k + 1) / (k * (rows[1] - column + k)))
    seen = odds[a] + TIE
    whole = fsum(map(exp, odds.values()))
    return min(1.0, fsum(exp(one) for one in odds.values() if one <= seen) / whole)


def wilson(right: int, n: int, level: float = LEVEL) -> Interval:
    """Wilson's score interval of a proportion."""
    z = quantile(level)
    middle, share = (right + z * z / 2) / (n + z * z), right / n
    reach = z / (n + z * z) * sqrt(n * share * (1 - share) + z * z / 4)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def newcombe(more: tuple[int, int], less: tuple[int, int], level: float = LEVEL) -> Interval:
    """Newcombe's interval of the difference of two proportions, each (right, questions): the first minus the second."""
    p, (low, high) = more[0] / more[1], wilson(*more, level)
    q, (under, over) = less[0] / less[1], wilson(*less, level)
    return p - q - sqrt((p - low) ** 2 + (over - q) ** 2), p - q + sqrt((high - p) ** 2 + (q - under) ** 2)


def scaled(contrast: Contrast, factor: float) -> Contrast:
    """The same contrast in another unit; `factor` is positive."""

    def interval(level: float) -> Interval:
        low, high = contrast.interval(level)
        return low * factor, high * factor

    error = None if contrast.stderr is None else contrast.stderr * factor
    return Contrast(contrast.difference * factor, error, contrast.p, interval, contrast.step * factor, contrast.least_p)


def mean_of(tests: Sequence[Contrast]) -> Contrast:
    """The plain mean of independent differences: its interval is recovered from those of each (Zou and Donner).

    Score intervals are narrow in the middle of the scale, and normal ones at its ends: the wider one counts. Counts
    change in steps, so half of the smallest one is added. Both keep false differences under 5 % from 30 questions on.
    Its p is the level at which the interval ends at 0. One difference alone is its own mean. Nothing is known of the
    error where one of the tests has none.
    """
    if len(tests) == 1:
        return tests[0]
    k = len(tests)
    mean = fsum(one.difference for one in tests) / k
    if any(one.stderr is None for one in tests):
        return without_error(mean)
    error = sqrt(fsum((one.stderr or 0.0) ** 2 for one in tests)) / k
    interval = partial(interval_of_mean, tests)
    return Contrast(mean, error, _p_of(mean, interval), interval, min(one.step for one in tests) / k)


def interval_of_mean(tests: Sequence[Contrast], level: float = LEVEL) -> Interval:
    """The interval of `mean_of`, for two tests or more whose errors are known."""
    k = len(tests)
    mean = fsum(one.difference for one in tests) / k
    step = min(one.step for one in tests) / k
    below, above = zip(*(_reach(one, level) for one in tests), strict=True)
    return (
        mean - sqrt(fsum(one * one for one in below)) / k - step / 2,
        mean + sqrt(fsum(one * one for one in above)) / k + step / 2,
    )


def _reach(test: Contrast, level: float) -> Interval:
    """How far an interval reaches below and above its difference, at least as far as the normal one."""
    low, high = test.interval(level)
    normal = quantile(level) * (test.stderr or 0.0)
    return max(test.difference - low, normal), max(high - test.difference, normal)


def _p_of(difference: float, interval: Callable[[float], Interval]) -> float:
    """The level at which an interval ends at 0."""
    if difference == 0:
        return 1.0

    def nearest(level: float) -> float:
        low, high = interval(level)
        return low if difference > 0 else -high

    smallest_level = 1e-15
    return _root(nearest, smallest_level, 1.0 - 1e-12) if nearest(smallest_level) < 0 else smallest_level


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's adjusted p-values by name."""
    adjusted: dict[str, float] = {}
    reached = 0.0
    for place, (name, p) in enumerate(sorted(p_values.items(), key=lambda one: one[1])):
        reached = max(reached, min(1.0, (len(p_values) - place) * p))
        adjusted[name] = reached
    return adjusted


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a monotone function crosses zero between two ends, or the end that is nearer to it."""
    at_low, at_high = function(low), function(high)
    if at_low == 0 or ((at_low > 0) == (at_high > 0) and at_high != 0):
        return low if at_low == 0 or abs(at_low) < abs(at_high) else high
    for _ in range(STEPS):
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        value = function(middle)
        if value == 0:
            return middle
        if (value > 0) == (at_low > 0):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function, by Lentz's continued fraction (Numerical Recipes, section 6.4)."""
    if x <= 0 or isinf(a):
        return 0.0
    if x >= 1:
        return 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    tiny = 1e-300
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or tiny)
    h = d
    for m in range(1, 10_000):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + factor * d or tiny)
            c = 1 + factor / c or tiny
            h *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return h
