"""What some tests compare with or write. To load one takes seconds of the processor, which are no single test's cost.

A test or a file asks for them by name, `pytest.mark.usefixtures("scipy")`, and imports what it needs in its body.
"""

from __future__ import annotations

from importlib import import_module

import pytest


@pytest.fixture(scope="session")
def datasets() -> None:
    import_module("datasets")


@pytest.fixture(scope="session")
def harness() -> None:
    """The lm-evaluation-harness, where it is installed."""
    pytest.importorskip("lm_eval.api.task")


@pytest.fixture(scope="session")
def pandas() -> None:
    import_module("pandas")


@pytest.fixture(scope="session")
def pyarrow() -> None:
    """What writes Parquet, with the pandas that it loads for its first array where it is installed."""
    import_module("pyarrow.parquet")
    import_module("pandas")


@pytest.fixture(scope="session")
def scipy() -> None:
    import_module("scipy.stats")


@pytest.fixture(scope="session")
def statsmodels() -> None:
    import_module("statsmodels.stats.multitest")
    import_module("statsmodels.stats.proportion")
