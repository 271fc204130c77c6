"""Generations with gold answers that try every corner of DROP's scorer."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from bot.audits.drop.scorer import Golds

WORDS = ["bears", "Chicago", "the", "a", "An", "THE", "yards", "goal", "field-goal", "naïve", "ΑΣ", "İstanbul"]
WORDS += ["ß", "東京", "The.", "a.b", "theater", "x", "of", "“Bears”", "Bears—Packers", "ﬁeld", "e", "inf."]
NUMBERS = [
    "10",
    "12.25",
    "-5",
    "+7",
    "1,001,360",
    "1_000",
    "1e3",
    "nan",
    "Infinity",
    "-inf",
    "٤٢",
    "\uff11\uff12",
    "½",
    "²",
]
NUMBERS += ["12.25%", "$12", "5:30", "0", "00", ".5", "5.", "1e999", "1__0", "12.25.", "0x1f", "3rd", "1999"]
GAPS = [" "] * 12 + ["-", "  ", "\n", "\n\n", "\t", "\u00a0", "\u2009", "\u3000", "\x1c", " - ", "\u200b", "—", ", "]
BLANKS = ["", " ", "  ", "\n", "the", ".", "-", "a the"]


def drop_pairs(seed: int, count: int) -> Iterator[tuple[str, Golds]]:
    """Yield `count` pairs of a generation and its gold answers, always the same ones for a seed."""
    random = Random(seed)
    for _ in range(count):
        golds = tuple(_gold(random) for _ in range(random.choice((1, 1, 2, 3))))
        yield _prediction(random, golds), golds


def _gold(random: Random) -> tuple[str, ...]:
    return tuple(_span(random) for _ in range(random.choice((1, 1, 1, 1, 2, 3))))


def _span(random: Random) -> str:
    if random.random() < 0.06:
        return random.choice(BLANKS)
    return _text(random, random.choice((1, 1, 2, 3, 5)))


def _text(random: Random, length: int) -> str:
    return "".join(_token(random) + random.choice(GAPS) for _ in range(length - 1)) + _token(random)


def _token(random: Random) -> str:
    kind = random.random()
    if kind < 0.05:
        return "".join(chr(random.choice((random.randrange(0x250), random.randrange(0xD800)))) for _ in range(3))
    if kind < 0.2:
        return f"{random.randrange(2000) / random.choice((1, 1, 10, 100)):g}"
    return random.choice(NUMBERS) if kind < 0.5 else random.choice(WORDS)


def _prediction(random: Random, golds: Golds) -> str:
    """Make a generation that often holds a gold, changed or with more text after it."""
    if random.random() < 0.3:
        return _span(random)
    text = random.choice((" ", "-", ", ")).join(random.choice(golds))
    kind = random.random()
    if kind < 0.3:
        return random.choice(("", " ", "\n", "The ")) + text
    if kind < 0.6:
        return text + random.choice(GAPS) + _text(random, random.choice((1, 3, 8)))
    words = text.split(" ")
    random.shuffle(words)
    return " ".join(words[: random.randrange(1, 5)])
