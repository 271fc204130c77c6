"""Names in little space: where they may break, what all of them share, and a cut that keeps their end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, takewhile

from markupsafe import Markup, escape

from bot.evaluation.finding import grouped
from bot.evaluation.row_key import owner_and_name
from bot.reporting.escape import visible

# After a sign that joins words, and between the humps of a name such as AmazonCounterfactualClassification.
JOINT = re.compile(r"(?<=[/_:-])(?=\w)|(?<=\.)(?=[A-Za-z])")
BREAK = re.compile(JOINT.pattern + r"|(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])")
OWN_BREAK = re.compile(r"(?<=[^\W_]-)<wbr>(?=[A-Za-z])")  # browsers break there themselves
LETTER = re.compile(r"[^\W\d_]")
WORDS = re.compile(r"[^ _-]+[ _-]*")
NAME, OWNER = 44, 30  # letters that are seen of a model and of its organization: two lines, and one beside its setup
LONG = 16  # letters of a part of a name that fit on a phone
FEW_TITLES = 3  # titles that share a word by chance


def breakable(text: str) -> Markup:
    """A text for a page that may break after the signs that join its words; a word too long for a phone, in itself."""
    words = JOINT.split(str(escape(visible(text))))  # of which no part breaks "&amp;" and its like
    parts = (part for word in words for part in (BREAK.split(word) if len(word) > LONG else [word]))
    return Markup(OWN_BREAK.sub("", "<wbr>".join(parts)))  # noqa: S704 - escaped


def in_lines(model: str, kind: str = " class=two") -> Markup:
    """The name of a model; the style sheet sets its organization below it, and hides the middles of long ones."""
    owner, name = owner_and_name(model or "(no name)")
    by = f"<i>{_without_middle(owner, OWNER)}<s>/</s></i>" if owner else ""
    return Markup(f"<bdi{kind}>{by}<span>{_without_middle(name, NAME)}</span></bdi>")  # noqa: S704 - escaped, or our own


def _without_middle(text: str, most: int) -> Markup:
    """A text of which only so many letters are seen, the last ones among them; what is read and copied is whole."""
    text = visible(text)
    if len(text) <= most:
        return breakable(text)
    begin, end = _middle(text, most)
    return breakable(text[:begin]) + Markup("<s>{}</s>").format(text[begin:end]) + breakable(text[end:])


def without_middle(text: str, most: int) -> str:
    """A text of at most so many letters that loses whole parts from its middle, where it has parts."""
    begin, end = _middle(text, most)
    return text if len(text) <= most else f"{text[:begin]}…{text[end:]}"


def _middle(text: str, most: int) -> tuple[int, int]:
    """Where the part begins and ends that a text of more than so many letters loses: between its parts if it can."""
    least, ends = len(text) - most // 2, [place.start() for place in BREAK.finditer(text)]
    begin = max((end for end in ends if most // 4 <= end <= most // 2), default=most // 2)
    return begin, min((end for end in ends if least < end <= least + most // 4), default=least + 1)


def with_end(text: str, most: int) -> str:
    """A text of at most so many letters: what is too long loses its middle, for names often differ at the end."""
    end = most // 2 - 1
    return text if len(text) <= most else f"{text[: most - end - 1]}…{text[-end:]}"


def in_two(text: str, most: int) -> list[str]:
    """A text on one line of at most so many letters or on two, broken where one would say it in parts."""
    if len(text) <= most:
        return [text]
    ends = [end for end in accumulate(map(len, _parts(text))) if end <= most]
    first = ends[-1] if ends else most // 2
    return [text[:first].rstrip(), with_end(text[first:], most)]


def _parts(text: str) -> list[str]:
    return [word for part in BREAK.split(text) for word in re.split(r"(?<= )", part)]


def without_shared(titles: Sequence[str]) -> list[str]:
    """Titles without the parts with which all of them begin or end, such as `MMLU-Pro law`, `MMLU-Pro physics`.

    Where only a number would be left of one, as of `Task 1`, all stay whole.
    """
    words = [_parts(title) for title in titles]
    if len(titles) < FEW_TITLES:
        return list(titles)
    least = min(map(len, words)) - 1  # something stays of each
    first = min(least, _shared(words, lambda title: title))
    last = min(least - first, _shared(words, lambda title: [word.strip(" _-") for word in reversed(title)]))
    left = ["".join(title[first : len(title) - last]).strip(" _-") for title in words]
    return left if all(LETTER.search(title) for title in left) else list(titles)


def heads(titles: Sequence[str], groups: Sequence[str | None]) -> list[tuple[str, str]]:
    """What stands above columns: the group of each, and its title without what all, and all of its group, share.

    Where no groups are declared, titles that begin with one word are a group: `bbh_navigate`, `bbh_snarks`.
    """
    names = without_shared(titles)
    named = list(zip(groups if any(groups) else _shared_words(names), names, strict=True))
    left = {group: iter(without_shared([name for own, name in named if own == group])) for group, _ in named if group}
    shown = [(group or "", next(left[group]) if group else name) for group, name in named]
    return [(group, name if " " in name else name.replace("_", " ")) for group, name in shown]


def _shared_words(names: Sequence[str]) -> list[str]:
    """The words with which each name and one beside it begin, "" of the rest; none if all have the same first word."""
    words = [WORDS.findall(name) for name in names]
    first = [found[0].strip(" _-") if len(found) > 1 else "" for found in words]
    shared = {
        word: "".join(some[0][: min(_shared(some, lambda name: name), min(map(len, some)) - 1)]).strip(" _-")
        for word, some in grouped(zip(first, words, strict=True)).items()
        if word and len(some) >= FEW_TITLES
    }
    found = ["", *(shared.get(word, "").replace("_", " ") for word in first), ""]
    found = [own if own in found[place : place + 3 : 2] else "" for place, own in enumerate(found[1:-1])]
    return found if len({*found}) > 1 else [""] * len(names)


def in_parts(title: str, most: int) -> Markup:
    """A title that breaks between its parts alone; a part of more letters than fit loses its middle."""
    return Markup("<wbr>").join(
        escape(" ".join(with_end(word, most) for word in part.split(" "))) for part in BREAK.split(visible(title))
    )


def longest_part(titles: Iterable[str]) -> int:
    """The number of letters of the longest part that does not break."""
    return max((len(word) for title in titles for part in BREAK.split(title) for word in part.split()), default=0)


def _shared(titles: Sequence[Sequence[str]], order: Callable[[Sequence[str]], Sequence[str]]) -> int:
    """The number of words with which all titles begin, in an order of their words."""

    def alike() -> Iterator[bool]:
        return (len(set(each)) == 1 for each in zip(*map(order, titles), strict=False))

    return sum(1 for _ in takewhile(bool, alike()))
