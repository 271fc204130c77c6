"""Read the output of the code of the benchmark's authors (hendrycks/test), and its scores."""

from __future__ import annotations

import csv
import io
import json
from math import fsum, isfinite
from pathlib import Path

from bot.audits.mmlu.source import Aggregate, MmluSource
from bot.errors import CallError
from bot.evaluation.mmlu_family import Family


def of_original(path: Path, data: bytes) -> MmluSource:
    """Judge what hendrycks/test writes: a subject's CSV with `<engine>_correct`, or accuracies_<model>.json.

    Raises CallError if it is neither.
    """
    if path.suffix == ".csv":
        return _original_csv(path, data)
    try:
        accuracies = json.loads(data)
        categories, weighted = accuracies["subcategories"], float(accuracies["weighted_accuracy"])
        macro = fsum(map(float, categories.values())) / len(categories)
    except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError, RecursionError):
        raise CallError(f"{path}: is not an accuracies file of hendrycks/test") from None
    if not (isfinite(macro) and isfinite(weighted)):
        raise CallError(f"{path}: is not an accuracies file of hendrycks/test: it holds values that are not numbers")
    aggregate = Aggregate("acc", macro, weighted, len(categories), weighted, "micro (mean over questions)")
    evidence = ("has subcategories, categories and weighted_accuracy, as hendrycks/test writes them",)
    model = path.stem.removeprefix("accuracies_")
    return MmluSource(str(path), "hendrycks/test accuracies", model, Family.ORIGINAL, evidence, (), (aggregate,))


def _original_csv(path: Path, data: bytes) -> MmluSource:
    try:
        rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig", errors="replace"))))
    except csv.Error as error:
        raise CallError(f"{path}: is not a CSV file: {error}") from None
    column = next((name for name in rows[0] if name and name.endswith("_correct")), None) if rows else None
    if column is None:
        raise CallError(f"{path}: is not a CSV file of hendrycks/test: no column ends in _correct")
    right = [row[column] in {"True", "1", "1.0"} for row in rows]
    mean = sum(right) / len(right)
    evidence = (f"has the column {column}, as hendrycks/test writes it",)
    aggregate = Aggregate("acc", mean, mean, 1)
    model = column.removesuffix("_correct")
    return MmluSource(
        str(path), "hendrycks/test CSV", model, Family.ORIGINAL, evidence, (), (aggregate,), samples=len(right)
    )
