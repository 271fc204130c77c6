"""Numbers for people: rounded half up, as everybody does by hand, in each text, page and table alike."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from functools import cache

# What a double has after 12 digits comes from the order of a sum, and makes no tie: 88.335 is read as it was written.
TWELVE_DIGITS = Context(prec=12)
WIDE = Context(prec=330, rounding=ROUND_HALF_UP)  # digits of the largest double
SIGNIFICANT = 6


def half_up(value: float, digits: int) -> Decimal:
    """A finite number with so many digits after the point; `+`, `,` and a width may format it."""
    near = TWELVE_DIGITS.create_decimal(repr(float(value)))
    return WIDE.plus(WIDE.quantize(near, _last_place(digits)))  # no minus zero


@cache
def _last_place(digits: int) -> Decimal:
    return Decimal(1).scaleb(-digits)


def significant(value: float, digits: int = SIGNIFICANT) -> str:
    """A number with so many digits at most, without zeros at the end."""
    near = TWELVE_DIGITS.create_decimal(repr(float(value)))
    return f"{float(Context(prec=digits, rounding=ROUND_HALF_UP).plus(near)):.{digits}g}"
