"""The statistics of `compare` against scipy, statsmodels and published examples.

To load scipy costs more than all other tests here: `make test` compares with what scipy 1.17 gave.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from math import inf

import pytest

from bot.evaluation.statistics import (
    LEVEL,
    Contrast,
    clustered,
    fisher_p,
    holm,
    independent,
    independent_counts,
    mcnemar_p,
    mean_of,
    newcombe,
    paired_exact,
    scaled,
    t_p,
    t_quantile,
    t_test,
    tango,
    wilson,
)

NEAR = {"rel": 1e-9, "abs": 1e-9}

BY_SCIPY = [
    (mcnemar_p, (1, 1), 1.0),
    (mcnemar_p, (3, 12), 0.03515625),
    (mcnemar_p, (9, 1), 0.021484375),
    (mcnemar_p, (512, 377), 6.71996618235761e-06),
    (mcnemar_p, (9000, 8700), 0.024610357491876775),
    (fisher_p, (40, 60, 55, 25), 0.0001612899891529071),
    (fisher_p, (0, 1, 7, 2), 0.3),
    (fisher_p, (3, 0, 0, 3), 0.1),
    (fisher_p, (900, 1100, 850, 650), 1.009699826662184e-11),
    (fisher_p, (10, 1990, 3, 1), 8.509493023620843e-07),
    (t_p, (0.0, 1), 1.0),
    (t_p, (0.7, 2), 0.5563930246328654),
    (t_p, (12.5, 5), 5.813336650219735e-05),
    (t_p, (1.96, 29), 0.05966779551959133),
    (t_p, (4.0, 999), 6.801470983803941e-05),
    (t_p, (1.96, 199_999), 0.04999717674964485),
    (t_quantile, (LEVEL, 1), 12.706204736174694),
    (t_quantile, (LEVEL, 5), 2.5705818356363146),
    (t_quantile, (LEVEL, 199_999), 1.9599758460260759),
    (wilson, (0, 2), (0.0, 0.6576197724933469)),
    (wilson, (7, 20), (0.1811918241010821, 0.5671457233147637)),
    (wilson, (1499, 1500), (0.9962333345857866, 0.9998823072683258)),
]


@pytest.mark.parametrize(("statistic", "given", "expected"), BY_SCIPY)
def test_a_statistic_is_what_scipy_gave(
    statistic: Callable[..., object], given: tuple[float, ...], expected: object
) -> None:
    assert statistic(*given) == pytest.approx(expected, rel=1e-8, abs=1e-15)


def test_a_paired_t_test_is_what_scipy_gave() -> None:
    draw = random.Random(0)
    first = [draw.random() for _ in range(5)]
    found = paired_t([0.9 * draw.random() - one for one in first])
    assert found.p == pytest.approx(0.4113946619725572, **NEAR)
    assert found.interval(LEVEL) == pytest.approx((-0.40006608772570607, 0.2015391655643396), **NEAR)


@pytest.mark.slow
@pytest.mark.usefixtures("scipy")
@pytest.mark.parametrize("seed", range(40))
def test_mcnemar_is_scipys_exact_binomial(seed: int) -> None:
    from scipy import stats

    draw = random.Random(seed)
    first, second = draw.randrange(1, 10 ** draw.randrange(1, 5)), draw.randrange(1, 10 ** draw.randrange(1, 5))
    assert mcnemar_p(first, second) == pytest.approx(stats.binomtest(first, first + second).pvalue, **NEAR)


def test_mcnemar_without_a_question_that_differs_is_one() -> None:
    assert mcnemar_p(0, 0) == 1.0


@pytest.mark.slow
@pytest.mark.usefixtures("scipy")
@pytest.mark.parametrize("seed", range(40))
def test_fisher_is_scipys(seed: int) -> None:
    from scipy import stats

    draw = random.Random(seed)
    n, m, share = draw.randrange(1, 2000), draw.randrange(1, 2000), draw.random()
    a, b = (
        draw.binomialvariate(n, share) if hasattr(draw, "binomialvariate") else round(n * share),
        draw.randrange(m + 1),
    )
    expected = stats.fisher_exact([[a, n - a], [b, m - b]])[1]
    assert fisher_p(a, n - a, b, m - b) == pytest.approx(expected, **NEAR)


@pytest.mark.slow
@pytest.mark.usefixtures("scipy")
@pytest.mark.parametrize("degrees", [1, 2, 5, 29, 99, 999, 14041, 199_999])
@pytest.mark.parametrize("t", [0.0, 0.01, 0.7, 1.96, 4.0, 12.5])
def test_student_is_scipys(degrees: int, t: float) -> None:
    from scipy import stats

    assert t_p(t, degrees) == pytest.approx(2 * stats.t.sf(t, degrees), **NEAR)
    assert t_quantile(LEVEL, degrees) == pytest.approx(stats.t.ppf(1 - LEVEL / 2, degrees), **NEAR)


def paired_t(differences: list[float]) -> Contrast:
    return clustered([(one, 1) for one in differences])


@pytest.mark.slow
@pytest.mark.usefixtures("scipy")
@pytest.mark.parametrize("seed", range(20))
def test_a_paired_t_test_is_scipys(seed: int) -> None:
    from scipy import stats

    draw = random.Random(seed)
    first = [draw.random() for _ in range(draw.randrange(2, 400))]
    second = [draw.random() * 0.9 for _ in first]
    found = paired_t([b - a for a, b in zip(first, second, strict=True)])
    expected = stats.ttest_rel(second, first)
    assert found.p == pytest.approx(expected.pvalue, **NEAR)
    assert found.interval(LEVEL) == pytest.approx(tuple(expected.confidence_interval(1 - LEVEL)), **NEAR)


@pytest.mark.slow
@pytest.mark.usefixtures("scipy")
@pytest.mark.parametrize("seed", range(20))
def test_wilson_is_scipys(seed: int) -> None:
    from scipy import stats

    draw = random.Random(seed)
    n = draw.randrange(2, 3000)
    a = draw.randrange(n + 1)
    assert wilson(a, n) == pytest.approx(tuple(stats.binomtest(a, n).proportion_ci(0.95, "wilson")), **NEAR)


@pytest.mark.slow
@pytest.mark.usefixtures("statsmodels")
@pytest.mark.parametrize("seed", range(20))
def test_newcombe_is_statsmodels(seed: int) -> None:
    from statsmodels.stats.proportion import confint_proportions_2indep

    draw = random.Random(seed)
    n, m = draw.randrange(2, 3000), draw.randrange(2, 3000)
    a, b = draw.randrange(n + 1), draw.randrange(m + 1)
    expected = confint_proportions_2indep(a, n, b, m, method="newcomb", compare="diff", alpha=LEVEL)
    assert newcombe((a, n), (b, m)) == pytest.approx(expected, **NEAR)


# Newcombe, Statistics in Medicine 17 (1998) 873, table II, method 10.
@pytest.mark.parametrize(
    ("more", "less", "expected"),
    [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((6, 7), (2, 7), (0.0582, 0.8062)),
        ((5, 56), (0, 29), (-0.0381, 0.1926)),
        ((0, 10), (0, 20), (-0.1611, 0.2775)),
        ((10, 10), (0, 10), (0.6075, 1.0)),
    ],
)
def test_newcombe_gives_the_published_intervals(
    more: tuple[int, int], less: tuple[int, int], expected: tuple[float, float]
) -> None:
    assert newcombe(more, less) == pytest.approx(expected, abs=5e-5)


def test_tango_gives_the_published_intervals() -> None:
    # Fagerland, Lydersen and Laake, Statistics in Medicine 33 (2014) 2850: airway reactivity, 1 and 7 of 21 pairs
    assert tango(1, 7, 21) == pytest.approx((-0.517, -0.026), abs=5e-4)
    # what R's PropCIs gives for 25 and 28 of 618 pairs at 90 %
    assert tango(28, 25, 618, 0.10) == pytest.approx((-0.0148, 0.0247), abs=5e-5)


@pytest.mark.parametrize(("more", "less", "n"), [(0, 0, 30), (30, 0, 30), (5, 0, 30), (40, 20, 160), (1, 0, 14_042)])
def test_tango_is_symmetric_and_holds_the_difference(more: int, less: int, n: int) -> None:
    low, high = tango(more, less, n)
    assert tango(less, more, n) == pytest.approx((-high, -low), abs=1e-9)
    assert -1 <= low <= (more - less) / n <= high <= 1


def test_tango_covers_where_all_pairs_agree() -> None:
    low, high = tango(0, 0, 30)
    assert low == pytest.approx(-high)
    assert high == pytest.approx(0.1135, abs=1e-4)


@pytest.mark.slow
@pytest.mark.usefixtures("statsmodels")
@pytest.mark.parametrize("seed", range(20))
def test_holm_is_statsmodels(seed: int) -> None:
    from statsmodels.stats.multitest import multipletests

    draw = random.Random(seed)
    given = {str(place): draw.random() ** 3 for place in range(draw.randrange(1, 60))}
    expected = multipletests(list(given.values()), method="holm")[1]
    assert [holm(given)[name] for name in given] == pytest.approx(list(expected), **NEAR)


def test_clusters_widen_the_error() -> None:
    draw = random.Random(3)
    clusters = [[shift] * 8 for shift in (draw.gauss(0, 1) for _ in range(50))]
    flat = [one for cluster in clusters for one in cluster]
    assert clustered([(sum(one), len(one)) for one in clusters]).stderr == pytest.approx(
        (paired_t(flat).stderr or 0) * 8**0.5, rel=0.02
    )


def test_one_cluster_says_nothing_of_its_error_and_two_do() -> None:
    alone = clustered([(3.0, 4)])
    assert (alone.difference, alone.stderr, alone.p, alone.interval(LEVEL)) == (0.75, None, None, (-inf, inf))
    assert clustered([(3.0, 4), (1.0, 4)]).stderr == pytest.approx(0.25)


def test_a_difference_without_any_error_has_no_p() -> None:
    found = t_test(0.5, 0.0, 5)
    assert (found.p, found.stderr, found.interval(LEVEL)) == (None, None, (-inf, inf))


COUNTS = pytest.mark.parametrize(("first", "second"), [((40, 100), (55, 80)), ((1, 2), (3, 5)), ((0, 1), (7, 9))])


@pytest.mark.slow
@pytest.mark.usefixtures("scipy")
@COUNTS
def test_independent_counts_have_the_error_of_their_zeros_and_ones(
    first: tuple[int, int], second: tuple[int, int]
) -> None:
    from scipy import stats

    answers = [[1.0] * right + [0.0] * (asked - right) for right, asked in (first, second)]
    errors = [stats.sem(one) if len(one) > 1 else 0.0 for one in answers]
    found = independent_counts(first, second)
    table = [[first[0], first[1] - first[0]], [second[0], second[1] - second[0]]]
    assert found.stderr == pytest.approx((errors[0] ** 2 + errors[1] ** 2) ** 0.5, **NEAR)
    assert found.p == pytest.approx(stats.fisher_exact(table).pvalue, **NEAR)
    assert found.step == pytest.approx(1 / max(first[1], second[1]))
    assert found.interval(0.01) == pytest.approx(newcombe(second, first, 0.01), **NEAR)


def test_independent_counts_are_what_scipy_gave() -> None:
    found = independent_counts((40, 100), (55, 80))
    assert (found.stderr, found.p, found.step) == pytest.approx(
        (0.07172017542841715, 0.0001612899891529071, 0.01), **NEAR
    )
    assert found.interval(0.01) == pytest.approx(newcombe((55, 80), (40, 100), 0.01), **NEAR)
    alone = independent_counts((0, 1), (7, 9))
    assert (alone.stderr, alone.p, alone.step) == pytest.approx((0.1469861839480328, 0.3, 1 / 9), **NEAR)


@pytest.mark.slow
@pytest.mark.usefixtures("statsmodels")
@COUNTS
def test_the_interval_of_independent_counts_is_statsmodels(first: tuple[int, int], second: tuple[int, int]) -> None:
    from statsmodels.stats.proportion import confint_proportions_2indep

    found = independent_counts(first, second)
    expected = confint_proportions_2indep(*second, *first, method="newcomb", compare="diff", alpha=0.01)
    assert found.interval(0.01) == pytest.approx(expected, **NEAR)


def test_a_contrast_in_another_unit_has_all_of_it_in_that_unit() -> None:
    found = independent_counts((40, 100), (55, 80))
    points = scaled(found, 100.0)
    low, high = found.interval(LEVEL)
    assert points.interval(LEVEL) == pytest.approx((100 * low, 100 * high))
    assert (points.p, points.difference) == (found.p, pytest.approx(100 * found.difference))
    assert (points.stderr, points.step) == (pytest.approx(100 * (found.stderr or 0.0)), pytest.approx(100 / 100))
    assert scaled(Contrast(1.0, None, None, found.interval), 2.0).stderr is None


def test_independent_means_are_a_z_test() -> None:
    found = independent(0.50, 0.55, (0.02, 0.015))
    assert found.stderr == pytest.approx(0.025)
    assert found.p == pytest.approx(0.04550026389635839, **NEAR)  # scipy's 2 * norm.sf(2)
    assert found.interval(LEVEL) == pytest.approx((0.05 - 1.959963985 * 0.025, 0.05 + 1.959963985 * 0.025))


def test_without_an_error_there_is_no_p() -> None:
    assert independent(0.5, 0.6, (0.0, 0.0)).p is None
    assert (clustered([(1, 1), (2, 2)]).p, clustered([(0, 1), (0, 2)]).p) == (None, 1.0)


def test_the_smallest_difference_is_that_of_a_power_of_80_percent_and_none_where_no_test_can_show_one() -> None:
    assert independent(0.5, 0.6, (0.006, 0.008)).smallest() == pytest.approx(0.028, abs=1e-4)
    assert independent(0.5, 0.6, (0.0, 0.0)).smallest() is None
    wrong = independent_counts((0, 50), (0, 50))  # an error of 0, and yet not certain
    assert (wrong.stderr, wrong.smallest()) == (0, pytest.approx(1.43 * 0.0713, abs=0.001))
    few = [
        (independent_counts((0, n), (n, n)).p, independent_counts((1, n), (1, n)).smallest() is None) for n in (3, 4)
    ]
    assert few == [(pytest.approx(0.1), True), (pytest.approx(2 / 70), False)]
    assert [paired_exact(n - 1, 1, 0, 0).smallest() is None for n in (5, 6)] == [True, False]
    assert mean_of([wrong, wrong]).p == 1.0


def test_a_mean_of_one_is_that_one() -> None:
    only = paired_exact(10, 2, 9, 9)
    assert mean_of([only]) is only


def test_the_p_of_a_mean_is_where_its_interval_ends_at_zero() -> None:
    mean = mean_of([paired_exact(50, 10, 25, 15), independent_counts((40, 100), (55, 100)), paired_t([0.1, 0.2, 0.0])])
    assert mean.p is not None
    assert mean.interval(mean.p)[0] == pytest.approx(0, abs=1e-6)
    assert (mean.interval(LEVEL)[0] > 0) == (mean.p < LEVEL)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("n", [30, 100])
@pytest.mark.parametrize("is_paired", [True, False])
def test_false_differences_are_rare(share: float, n: int, is_paired: bool) -> None:
    draw = random.Random(f"{share} {n} {is_paired}")
    wrong = 0
    for _ in range(60):
        first, second = ([[draw.random() < share for _ in range(n)] for _ in range(4)] for _ in range(2))
        tests = [_test(a, b, is_paired=is_paired) for a, b in zip(first, second, strict=True)]
        adjusted = holm({str(place): one.p or 0.0 for place, one in enumerate(tests)})
        low, high = mean_of(tests).interval(LEVEL)
        wrong += min(adjusted.values()) < LEVEL or low > 0 or high < 0
    assert wrong <= 60 * 2 * LEVEL


def _test(first: list[bool], second: list[bool], *, is_paired: bool) -> Contrast:
    if not is_paired:
        return independent_counts((sum(first), len(first)), (sum(second), len(second)))
    pairs = list(zip(first, second, strict=True))
    return paired_exact(*(pairs.count(one) for one in ((True, True), (True, False), (False, True), (False, False))))
