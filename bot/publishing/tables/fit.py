"""Checks that a row fits a table: the columns exist, and the cells look like the other cells of their columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Context, Decimal

from bot.errors import Unwritable
from bot.publishing.tables.cells import ABSENT, Cell, ColumnPath, Number, as_text, is_in_range
from bot.publishing.tables.markdown_sheet import BOLD, TAG, is_bold
from bot.publishing.tables.sheet import TRUTH, Grid
from bot.reporting.escape import brief

NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3}\b)?")
UNITS = r"(?:ms|s|x|×|¢)(?!\w)"  # written without a space: 779s, 2.4x
LEADING = re.compile(rf"\s*({NUMBER.pattern})(?=$|[\s%±(†‡§]|{UNITS})")
DIGITS = Context(prec=12)
MINUS = "\u2212"  # the sign that typesetters put before a number
# What may stand around a number: tags, links, entities, emphasis, code marks, emoji, currencies, and unseen marks.
AROUND = re.compile(
    r"<[^<>]*>|!?\[|\]\((?:\\.|[^()\\])*+\)|&[a-z]{2,8};|[*`]|(?<![0-9A-Za-z_])_+|_+(?![0-9A-Za-z_])"
    r"|:[a-z0-9_+-]+:|[$€£](?=[-+]?\d)|[\u2600-\u27bf\u2b50\ufe0f\U0001f000-\U0001faff\u200b\u200e\u200f\u2060\ufeff]"
)
# How far a number may be off, behind it: ±0.02, (± 1.2 %), [46.0, 50.3].
PART = rf"\s*+(?:{NUMBER.pattern})\s*+%?+\s*+"
SPREAD = re.compile(
    rf"(?<!\s)\s*+(?:[(\[]?+\s*+(?:±|\+/-){PART}[)\]]?|[(\[]{PART}(?:[,;–-]|to){PART}[)\]])(?=[*_\s]*+$)"
)
# One share with its counts: 485/500 (97.00%), or 97.0% (485/500).
COUNTS, SHARE = r"(?P<right>\d+)\s*/\s*(?P<of>\d+)", rf"(?P<share>{NUMBER.pattern})\s*%?"
SHARES = tuple(re.compile(rf"\s*{one}\s*\(\s*{other}\s*\)\s*") for one, other in ((COUNTS, SHARE), (SHARE, COUNTS)))
COUNTS_ALONE = re.compile(rf"\s*{COUNTS}\s*")
LONGEST_NUMBER = 500  # characters of a cell in which a number is looked for
# Emoji in front of a number, such as the crown of the best one, also as :crown:.
ORNAMENTS = re.compile(r"(?:(?::[a-z0-9_+-]+:|[\u2600-\u27bf\u2b50\ufe0f\U0001f000-\U0001faff])\s*)+(?=[-+]?\d)")
UNSEEN = "\u200b\u200e\u200f\u2060\ufeff"  # marks around a text that a reader does not see, such as of its direction
SEVERAL = 3  # values that show what the unit of a column is


def number_in(cell: Cell) -> Decimal | None:
    """The number that a cell shows: 97.0 for `**97.0 %**`, None if there is none, or none that can be counted with."""
    found = place_of_number(cell) if isinstance(cell, str) else None
    number = Decimal(cell[slice(*found)].replace(MINUS, "-")) if isinstance(cell, str) and found else cell
    return number if isinstance(number, Decimal) and is_in_range(number) else None


def place_of_number(text: str) -> tuple[int, int] | None:
    """Where the number with which a text begins stands in it, but for what is only around it; None if there is none.

    Of a share with its counts it is the share.
    """
    if len(text) > LONGEST_NUMBER:
        return None
    if (counted := share_with_counts(text)) is not None:
        return counted.span("share")
    found = LEADING.match(_alone(text))
    return found.span(1) if found else None


def share_with_counts(text: str) -> re.Match[str] | None:
    """The share, right answers and all of a text such as `485/500 (97.00%)`, None where they do not agree."""
    alone = _alone(text) if "/" in text and len(text) <= LONGEST_NUMBER else ""
    found = next((match for shape in SHARES if (match := shape.fullmatch(alone))), None)
    if found is None or not (of := Decimal(found["of"])):
        return None
    share, part = Decimal(found["share"]), Decimal(found["right"]) / of
    step = Decimal(1).scaleb(-decimals_of(share))  # some round a share that was rounded already
    return found if any(abs(share - one) <= step for one in (part, 100 * part)) else None


def counts_in(cell: Cell) -> re.Match[str] | None:
    """The right answers and all of a cell that has these alone, such as `7/15`; None for others."""
    alone = _alone(cell) if isinstance(cell, str) and "/" in cell and len(cell) <= LONGEST_NUMBER else ""
    found = COUNTS_ALONE.fullmatch(alone)
    return found if found is not None and int(found["right"]) <= int(found["of"]) else None


def _alone(text: str) -> str:
    """A text of the same length without what is only around its numbers."""
    return AROUND.sub(lambda each: " " * len(each[0]), text).replace(MINUS, "-")


def without_spread(text: str) -> str:
    """A text that begins with a number, without how far it may be off."""
    found, spread = place_of_number(text), SPREAD.search(text[:LONGEST_NUMBER])
    is_behind = found is not None and spread is not None and spread.start() >= found[1]
    return SPREAD.sub("", text) if is_behind else text


def around_number(text: str) -> str:
    """A text with `#` in the place of the number with which it begins."""
    found = place_of_number(text)
    return f"{text[: found[0]]}#{text[found[1] :]}" if found else text


def with_number(text: str, number: Decimal) -> str | None:
    """The text with another number in the place of its own, None if it holds no number, or more than one."""
    found = place_of_number(text)
    if found is None or any(NUMBER.search(AROUND.sub(" ", part)) for part in (text[: found[0]], text[found[1] :])):
        return None
    written = as_text(number)
    return text[: found[0]] + (written.replace("-", MINUS) if MINUS in text else written) + text[found[1] :]


def is_shown(there: Decimal, number: Number, *, keeps_zeros: bool) -> bool:
    """Tell whether a number of a table is a correct rounding of an exact one, in which of two ways a tie went or not.

    It is compared at the digits of the mapping, or at its own where it has more of them; where the column keeps zeros
    at the end, fewer digits are a coarser rounding too. Doubles are compared to 12 digits: further ones depend on the
    order of a sum.
    """
    if DIGITS.plus(there) == DIGITS.plus(number.exact):
        return True
    if number.decimals is None:
        return False
    own = decimals_of(there)
    return is_rounding(there, number.exact, own if keeps_zeros else max(own, number.decimals))


def is_rounding(there: Decimal, exact: Decimal, decimals: int) -> bool:
    """Tell whether a number is another one rounded to these decimals, to either side where it lies in the middle."""
    half = Decimal(5).scaleb(-decimals - 1)
    return abs(there - exact) <= half + max(half, abs(exact)).scaleb(-12)


def decimals_of(number: Decimal) -> int:
    """How many digits are written after the point."""
    return max(0, -int(number.as_tuple().exponent))


def check_columns(grid: Grid, column_paths: Iterable[ColumnPath]) -> None:
    """Raise Unwritable where a column of the mapping is not in the table; columns are never added."""
    missing = [column_path for column_path in column_paths if column_path not in grid.column_paths]
    if missing and (len(grid) or grid.column_paths):
        there = ", ".join(sorted({brief(column_path[0], 40) for column_path in grid.column_paths})[:30])
        raise Unwritable(
            f"the table does not have exactly one column {'.'.join(missing[0])!r}; its columns are {there}; "
            "write one of these in `columns` of the table, or give the table this column"
        )


class FilledColumn:
    """The filled cells of a column, and what they have in common."""

    def __init__(self, grid: Grid, column_path: ColumnPath) -> None:
        self.name = ".".join(column_path)
        column = (grid.cell(row, column_path) for row in range(len(grid)) if column_path in grid.column_paths)
        cells = [cell for cell in column if cell is not ABSENT and cell not in {None, ""}]
        self.is_empty = not cells
        self.kinds = {type(cell) for cell in cells}
        texts = [cell for cell in cells if isinstance(cell, str)]
        self.example = brief(texts[0], 40) if texts else ""
        self.shapes = {_pattern(without_spread(TAG.sub("", text))) for text in texts}
        self.numbers = [number for cell in cells if (number := number_in(cell)) is not None]
        self.fewest_decimals = min(map(decimals_of, self.numbers), default=0)
        self.keeps_zeros = any(decimals_of(one) and one.as_tuple().digits[-1] == 0 for one in self.numbers)
        shown = [without_spread(text).strip() for text in texts]
        marks = (mark for mark in BOLD if all(is_bold(text, mark) for text in shown))
        is_of_all = len(set(texts)) > 1 and len(texts) == len(cells)  # and so no mark of the best one
        self.mark = next(marks, "") if is_of_all else ""
        self.least, self.largest = min(self.numbers, default=Decimal(0)), max(self.numbers, default=Decimal(0))

    def marked(self, cell: Cell) -> Cell:
        """A new cell, bold where each cell is."""
        is_plain = isinstance(cell, str | Decimal) and cell != "" and not is_bold(cell, self.mark)
        return f"{self.mark}{as_text(cell)}{self.mark}" if self.mark and is_plain else cell

    def check(self, cell: Cell, unit: str | None) -> None:
        """Raise Unwritable where a cell does not look like the others; `unit` is the unit of its number."""
        if self.is_empty or cell is ABSENT or cell in {None, ""}:
            return
        self._check_kind(cell)
        if unit is None:
            return
        one_pattern = len(self.shapes) == 1 and "#" in min(self.shapes)
        if isinstance(cell, str) and one_pattern and _pattern(TAG.sub("", cell)) not in self.shapes:
            raise Unwritable(f"the cells of {self.name} look like {self.example!r}, not like {brief(cell, 40)!r}")
        self._check_unit(number_in(cell), unit)

    def _check_kind(self, cell: Cell) -> None:
        if self.kinds <= {Decimal} and isinstance(cell, str):
            said = f"the mapping gives the text {brief(cell, 40)!r}"
            raise Unwritable(f"the column {self.name} holds numbers, but {said}")
        has_texts = self.kinds == {str} and "#" not in self.shapes
        if isinstance(cell, Decimal) and has_texts and (len(self.shapes) > 1 or "#" in min(self.shapes)):
            there = f"texts such as {self.example!r}"
            raise Unwritable(f"the column {self.name} holds {there}, but the mapping gives a number")

    def _check_unit(self, ours: Decimal | None, unit: str) -> None:
        if ours is None or len(self.numbers) < SEVERAL:
            return
        said = f"the mapping gives {ours}: write unit ="
        if unit == "percent" and ours > 1 and self.largest <= 1:
            raise Unwritable(f'no value of {self.name} is above 1, but {said} "proportion"')
        if unit == "proportion" and 0 <= ours <= 1 and self.least > 1:
            raise Unwritable(f'every value of {self.name} is above 1, but {said} "percent"')


def _bare(text: str) -> str:
    text = text.replace("*", "").strip().strip("_").strip(UNSEEN).strip()
    ornaments = ORNAMENTS.match(text)
    return text[ornaments.end() :] if ornaments else text


def _pattern(text: str) -> str:
    """A text with `#` for each number: `**70.29%**` and `3.1%` have one shape."""
    return NUMBER.sub("#", _bare(text))


def _is_same_spelling(one: str, other: str) -> bool:
    """Tell whether two texts that begin with a number differ only in how numbers are written: `97 %` and `97.0 %`."""
    numbers = [[Decimal(found) for found in NUMBER.findall(text)] for text in (one, other)]
    return number_in(one) is not None and _pattern(one) == _pattern(other) and numbers[0] == numbers[1]


def is_same_cell(there: Cell, wanted: Cell, plain: str) -> bool:
    """Tell whether a cell already has the wanted value; `plain` is its text without markup.

    Numbers are compared by value, so `1.50` is `1.5`, also in `1.50 %`, and to 12 digits: further ones of a double
    depend on the order of a sum. Bold marks do not count.
    """
    if isinstance(wanted, Decimal) and not isinstance(there, bool):
        text = _bare(plain) if isinstance(there, str) else as_text(there)
        number = Decimal(text) if NUMBER.fullmatch(text) else None
        return number is not None and (number == wanted or DIGITS.plus(number) == DIGITS.plus(wanted))
    if isinstance(wanted, bool) and isinstance(there, str):
        return any(there == pair[not wanted] for pair in TRUTH)
    if isinstance(wanted, str) and isinstance(there, str):
        return there == wanted or _bare(there) == _bare(wanted) or _is_same_spelling(there, wanted)
    if isinstance(there, Decimal) and isinstance(wanted, str):
        return as_text(there) == wanted
    return there is wanted
