"""Places: where something lies in a file, written in one way for forms of results and for tables.

A place is keys and indices with dots (`results.retail.pass_1`, `runs.0.score`); `[name=text]` is an element of a list,
`[-1]` its last one, `[*]` any of its elements, `*` any key or element, and `{name}` any, remembered under that name.
Star and name may be a part of a key (`pass_{k}`). A key that holds dots, brackets or quotes is in quotes
(`results."gpt-4.1"`). A place lies inside of what it is asked of; one with a leading `/` lies in the whole file, and
`/` alone is the whole file. One that ends in `?` may be missing in a file.

A *text with names* is filled from what was remembered: `{name}`, from what stands beside a value, `{.key}`, or one
object further out, `{..key}`, and from the whole file, `{/place}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from bot.errors import MalformedResult
from bot.evaluation.finding import shown
from bot.evaluation.result import escape_pointer

MOST_STEPS = 20
MOST_PARTS = 4  # names and stars in one key
MOST_VISITS = 3_000_000  # values that all places of one file may look at together
MOST_MATCHES = 50_000  # of one place in one file
LONGEST_INDEX = 10  # digits
FEW_MATCHES, MOST_BEGINS = 500, 200  # matches of one begin, and begins, that are kept for places that begin alike
KEPT, LARGEST_KEPT = 32, 20_000  # shapes that are kept, and the elements and characters of keys of such a value
MOST_SPOTS = 10_000  # that a shape keeps
LONGEST_KEY = 1_000  # characters of a key that a pattern is tried on
NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
TOKEN = re.compile(r"\{([^{}]*)\}|\*")
TEXT_TOKEN = re.compile(r"\{([^{}]*)\}")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
SELECTOR = re.compile(r'\[([^\[\]=]+)=("(?:[^"\\]|\\.)*"|[^\[\]]*)\]')
INDEX = re.compile(r"\[(\*|-?\d{1,9}|\{[^{}]*\})\]")
PLAIN = re.compile(r'[^."\[\]{}*/? ][^."\[\]{}*/?]*')


class Match(msgspec.Struct, frozen=True, gc=False):
    """A value that a place names: where it lies, what was remembered on the way, and the objects around it.

    `where` is a JSON pointer. `around` is a chain: the nearest object, and the chain of those around it; None at its
    end.
    """

    value: Any
    where: str
    names: Mapping[str, str]
    around: Any

    def member(self, key: str, names: Mapping[str, str]) -> Match:
        """A member of this object."""
        escaped = escape_pointer(key) if "/" in key or "~" in key else key
        return Match(self.value[key], f"{self.where}/{escaped}", names, (self.value, self.around))

    def element(self, number: int, names: Mapping[str, str]) -> Match:
        """An element of this list."""
        return Match(self.value[number], f"{self.where}/{number}", names, self.around)


class Visits:
    """How many values the places of one file may still look at."""

    def __init__(self) -> None:
        self.left = MOST_VISITS

    def spend(self, count: int, place: str) -> None:
        """Raise MalformedResult where a file would take too long."""
        self.left -= count
        if self.left < 0:
            raise MalformedResult(f"has too many values for the place {shown(place)}: name it more narrowly")


class Step(msgspec.Struct, frozen=True, gc=False):
    """One step of a place: the member `key`, or those that match a pattern with `names`, or a selected element.

    `template` is the key with its names in braces, None where it has none, or stars. `around` is the text before and
    after the only name or star of a key: what is between them can be read in one way, and no pattern is tried.
    `is_element`: one in brackets.
    """

    key: str = ""
    names: tuple[str, ...] = ()
    around: tuple[str, str] | None = None
    shortest: re.Pattern[str] | None = None
    longest: re.Pattern[str] | None = None
    template: str | None = None
    is_any: bool = False
    is_element: bool = False
    selects: tuple[str, str] | None = None


class FilePlace(msgspec.Struct, frozen=True, gc=False):
    """A place as it is written, its steps, and what it remembers; one that `is_optional` is not missed.

    `begins` are the places that the first steps make, as texts: places that begin alike are walked together.
    """

    text: str
    steps: tuple[Step, ...]
    begins: tuple[str, ...]
    names: frozenset[str]
    is_of_file: bool
    is_optional: bool = False

    @property
    def is_of_values(self) -> bool:
        """Tell whether it goes by values, and not by keys alone."""
        return any(step.selects for step in self.steps)

    def find(
        self,
        within: Match,
        whole: Match,
        budget: Visits,
        names: Mapping[str, str] | None = None,
        walked: dict[str, list[Match]] | None = None,
    ) -> list[Match]:
        """Everything that the place names. A name that is known already stands for what was remembered.

        `walked` has what other places led to, asked of the same match, by their `begins`; what this one does is added.
        Raises MalformedResult where it names too much, or where a key can be read in two ways.
        """
        start = whole if self.is_of_file else within
        found = [start if names is None else Match(start.value, start.where, names, start.around)]
        for step, begin in zip(self.steps, self.begins, strict=True):
            known = walked.get(begin) if walked is not None else None
            if known is None:
                known = []
                for here in found:
                    known += self._next(step, here, budget)
                if len(known) > MOST_MATCHES:
                    raise MalformedResult(f"has more than {MOST_MATCHES:,} values at the place {shown(self.text)}")
                if walked is not None and len(known) <= FEW_MATCHES and len(walked) < MOST_BEGINS:
                    walked[begin] = known
            found = known
        return found

    def leads_somewhere(self, within: Match, whole: Match, budget: Visits) -> bool:
        """Tell whether the place names anything; it is looked for until the first is found."""
        waiting = [(0, whole if self.is_of_file else within)]
        while waiting:
            at, here = waiting.pop()
            if at == len(self.steps):
                return True
            waiting += [(at + 1, inner) for inner in reversed(self._next(self.steps[at], here, budget))]
        return False

    def _next(self, step: Step, here: Match, budget: Visits) -> list[Match]:
        """What one step leads to."""
        value = here.value
        if type(value) is dict:
            if step.is_element:
                return []
            names = here.names
            if step.shortest is None or (step.template is not None and all(map(names.__contains__, step.names))):
                key = step.key if step.template is None else step.template.format_map(names)
                return [here.member(key, names)] if key in value else []
            return [here.member(key, known) for key, known in self._keys(step, here, budget)]
        if type(value) is list:
            return [here.element(number, known) for number, known in self._numbers(step, value, here.names, budget)]
        return []

    def _keys(self, step: Step, here: Match, budget: Visits) -> Iterable[tuple[str, Mapping[str, str]]]:
        """The members of an object that a pattern names, each with what is remembered then."""
        value, names = here.value, here.names
        budget.spend(len(value), self.text)
        if step.around is None:
            return self._keys_of_pattern(step, here)
        before, after = step.around
        begin, end = len(before), len(after)
        keys: Iterable[str] = value
        if not step.is_any:
            sizes = range(begin + end + 1, LONGEST_KEY + 1)
            keys = [key for key in value if key.startswith(before) and key.endswith(after) and len(key) in sizes]
        if not step.names:
            return [(key, names) for key in keys]
        (name,) = step.names
        if name in names:
            return [(key, names) for key in keys if key[begin : len(key) - end] == names[name]]
        return [(key, {**names, name: key[begin : len(key) - end]}) for key in keys]

    def _keys_of_pattern(self, step: Step, here: Match) -> Iterator[tuple[str, Mapping[str, str]]]:
        """The same for a key of several names and stars."""
        names = here.names
        for key in here.value:
            found = _read_key(step, key, here, self.text)
            if found is not None and all(names.get(name, part) == part for name, part in found.items()):
                yield key, {**names, **found} if found else names

    def _numbers(
        self, step: Step, value: list[Any], names: Mapping[str, str], budget: Visits
    ) -> Iterator[tuple[int, Mapping[str, str]]]:
        """The elements of a list that a step names."""
        if step.selects is not None:
            budget.spend(len(value), self.text)
            key, text = step.selects
            for number, one in enumerate(value):
                if type(one) is dict and key in one and as_text(one[key]) == text:
                    yield number, names
        elif step.is_any and step.names and (known := names.get(step.names[0])) is not None:
            if (
                known.isdecimal()
                and len(known) < LONGEST_INDEX
                and str(int(known)) == known
                and int(known) < len(value)
            ):
                yield int(known), names
        elif step.is_any:
            budget.spend(len(value), self.text)
            for number in range(len(value)):
                yield number, {**names, step.names[0]: str(number)} if step.names else names
        elif step.shortest is None and step.key.isascii() and step.key.removeprefix("-").isdecimal():
            number = int(step.key) + (len(value) if step.key.startswith("-") else 0)
            if 0 <= number < len(value):
                yield number, names


class Spot(msgspec.Struct, frozen=True, gc=False):
    """Where a place leads in every value of one shape: the keys on the way, and what is remembered there."""

    keys: tuple[str | int, ...]
    where: str
    names: Mapping[str, str]

    @staticmethod
    def of(match: Match, start: Match, names: Mapping[str, str]) -> Spot:
        """The spot of a match that was found from `start`, where `names` were known."""
        where, value, keys = match.where[len(start.where) :], start.value, list[str | int]()
        for part in where.split("/")[1:]:
            keys.append(int(part) if type(value) is list else part.replace("~1", "/").replace("~0", "~"))
            value = value[keys[-1]]
        return Spot(tuple(keys), where, {name: text for name, text in match.names.items() if name not in names})

    def match(self, start: Match, names: Mapping[str, str]) -> Match:
        """The match from another value of this shape."""
        value, around = start.value, start.around
        for key in self.keys:
            if type(value) is dict:
                around = (value, around)
            value = value[key]
        return Match(value, start.where + self.where, {**names, **self.names} if names else self.names, around)


class Shape:
    """Where places lead in the values of one shape: it is looked for in the first of them."""

    def __init__(self) -> None:
        self.spots: dict[tuple[str | None, ...], tuple[Spot, ...]] = {}
        self.leads: dict[tuple[str | None, ...], bool] = {}
        self.left = MOST_SPOTS

    def find(
        self,
        place: FilePlace,
        start: Match,
        names: Mapping[str, str],
        budget: Visits,
        walked: dict[str, list[Match]] | None = None,
    ) -> list[Match]:
        """Everything that a place names in a value of this shape, see `FilePlace.find`."""
        key = (place.text, *map(names.get, place.names))
        spots = self.spots.get(key)
        if spots is not None:
            return [spot.match(start, names) for spot in spots]
        found = place.find(start, start, budget, names, walked)
        if len(found) < self.left and not place.is_of_values:
            self.left -= 1 + len(found)
            self.spots[key] = tuple([Spot.of(match, start, names) for match in found])
        return found

    def leads_somewhere(self, place: FilePlace, start: Match, budget: Visits) -> bool:
        """Tell whether a place names anything in a value of this shape."""
        key = (place.text, *map(start.names.get, place.names))
        found = self.leads.get(key)
        if found is None:
            found = place.leads_somewhere(start, start, budget)
            if self.left > 0 and not place.is_of_values:
                self.left -= 1
                self.leads[key] = found
        return found


def shape_of(value: Any) -> Shape:
    """The shape that a value shares with others; one of its own for a value that is large."""
    left = [LARGEST_KEPT]
    parts = _parts(value, left) if isinstance(value, dict | list) else None
    return _kept_shape(parts) if left[0] > 0 else Shape()


@lru_cache(maxsize=KEPT)
def _kept_shape(_: Any) -> Shape:
    return Shape()


def _parts(value: dict[str, Any] | list[Any], left: list[int]) -> tuple[Any, ...] | None:
    """The keys of an object with the parts of its members, or the length of a list with those of its elements.

    It stops where nothing is `left` to be counted.
    """
    left[0] -= len(value) + (len("".join(value)) if isinstance(value, dict) else 0)
    if left[0] <= 0:
        return None
    head, inner = (tuple(value), value.values()) if isinstance(value, dict) else (len(value), value)
    return (head, *[_parts(one, left) if type(one) is dict or type(one) is list else None for one in inner])


def _read_key(step: Step, key: str, here: Match, place: str) -> dict[str, str] | None:
    """What a key's name gives for the names of a step, None where it does not match; a key is read in one way only."""
    if len(key) > LONGEST_KEY or step.shortest is None or step.longest is None:
        return None
    first, last = step.shortest.fullmatch(key), step.longest.fullmatch(key)
    if first is None and last is None:
        return None
    if first is None or last is None or first.groups() != last.groups():
        either = [found.group(*range(1, len(step.names) + 1)) for found in (first, last) if found is not None]
        if step.names and len(set(either)) > 1:
            why = f"has the key {shown(key)}, which the place {shown(place)} reads in two ways: name it more narrowly"
            raise MalformedResult(why, pointer=here.where)
    found = first or last
    return dict(zip(step.names, found.groups(), strict=True)) if found else None


@lru_cache(maxsize=2_000)
def parse_place(text: str) -> FilePlace:
    """Parse a place. Raises ValueError with what to write instead."""
    written, text = text, text.removesuffix("?")
    parsed = tuple(_steps(text))
    steps = tuple([step for step, _ in parsed])
    if not steps and text != "/":
        raise ValueError('an empty text is no place: write "/" for the whole file')
    if len(steps) > MOST_STEPS:
        raise ValueError(f"a place has at most {MOST_STEPS} parts")
    names = [name for step in steps for name in step.names]
    if len(set(names)) != len(names):
        raise ValueError(f"{text!r} has one name twice")
    begins = tuple([text[:end] for _, end in parsed])
    return FilePlace(text, steps, begins, frozenset(names), text.startswith("/"), is_optional=text != written)


def parse_fixed(text: str) -> tuple[Step, ...]:
    """The steps of a place that names one thing, "" the whole file. Raises ValueError with what to write instead."""
    if "/" in text.removeprefix("/") and text.startswith("/"):
        written = text[1:].replace("/[", "[").replace("/", ".")
        raise ValueError(f"{text!r} is a JSON pointer: write the place {written}")
    steps = parse_place(text).steps if text else ()
    if any(step.shortest is not None for step in steps):
        raise ValueError(f"{text!r} names several places: write keys, and [name=Verified] after a list")
    return steps


def _steps(text: str) -> Iterator[tuple[Step, int]]:
    """The steps of a place, each with the position in its text where it ends. Raises ValueError."""
    rest, at = text.removeprefix("/"), 0
    skipped = len(text) - len(rest)
    needs_key = bool(rest) and not rest.startswith("[")
    while at < len(rest) or needs_key:
        if needs_key:
            end = _end_of_key(rest, at)
            if end == at:
                raise ValueError(f"{text!r} is no place: there is no key at character {at + 1}")
            key = rest[at:end]
            yield Step(key=_unquoted(key)) if key.startswith('"') else _key(key, text), skipped + end
            at, needs_key = end, False
        elif rest[at] == ".":
            at, needs_key = at + 1, True
        elif found := INDEX.match(rest, at):
            at = found.end()
            yield _element(found[1]), skipped + at
        elif found := SELECTOR.match(rest, at):
            at = found.end()
            yield Step(selects=(found[1].strip(), _unquoted(found[2])), is_element=True), skipped + at
        else:
            raise ValueError(f"{text!r} is no place: write a dot between two keys, and [*] or [name=text] after a list")


def _end_of_key(text: str, at: int) -> int:
    """The end of a key: before a dot or a bracket that is not inside of braces, or after the second quote."""
    if quoted := QUOTED.match(text, at):
        return quoted.end()
    depth = 0
    for place in range(at, len(text)):
        char = text[place]
        depth += (char == "{") - (char == "}")
        if not depth and char in '.["]':
            return place
    return len(text)


def _element(text: str) -> Step:
    if text == "*":
        return Step(is_any=True, around=("", ""), shortest=re.compile(""), template=None, is_element=True)
    if text.startswith("{"):
        own, anything = (_name(text[1:-1]),), re.compile("")
        return Step("", own, ("", ""), anything, template=text, is_any=True, is_element=True)
    return Step(key=text, is_element=True)


def _key(text: str, place: str) -> Step:
    """A step of a key that may hold names and stars."""
    names, parts, last = list[str](), list[str](), 0
    for found in TOKEN.finditer(text):
        parts.append(text[last : found.start()])
        last = found.end()
        names.append(_name(found[1]) if found[1] is not None else "*")
    parts.append(text[last:])
    if any(set(part) & set("{}") for part in parts):
        raise ValueError(f"{place!r} has a brace without its pair")
    if not names:
        return Step(key=text)
    if len(names) > MOST_PARTS or any(not part for part in parts[1:-1]):
        raise ValueError(f"{place!r} cannot be read: put text between two names, and at most {MOST_PARTS} in one key")
    own = tuple(name for name in names if name != "*")
    is_any = len(names) == 1 and not any(parts)
    template = None if "*" in names else text
    around = (parts[0], parts[1]) if len(names) == 1 else None
    return Step("", own, around, _pattern(parts, names, "?"), _pattern(parts, names, ""), template, is_any)


def _pattern(parts: list[str], names: list[str], how: str) -> re.Pattern[str]:
    """The key with the shortest text that fits for each name, or with the longest; each is tried once."""
    text = re.escape(parts[0])
    for name, part in zip(names[:-1], parts[1:-1], strict=True):
        inner = f".+{how}" if name == "*" else f"(.+{how})"
        text += f"(?>{inner}{re.escape(part)})"
    inner = ".+" if names[-1] == "*" else "(.+)"
    return re.compile(f"{text}{inner}{re.escape(parts[-1])}", re.DOTALL)


def _name(text: str) -> str:
    if not NAME.fullmatch(text):
        raise ValueError(f"{{{text}}} is no name: write letters, digits and _ in the braces of a place")
    return text


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text


def as_text(value: object) -> str:
    """A value as a text in the spelling of JSON, "" where it is null, an object or a list."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value) if isinstance(value, int | float) else ""


def key_text(key: str) -> str:
    """A key as a part of a place, in quotes where it needs them."""
    if PLAIN.fullmatch(key) and key == key.strip() and not key.isdecimal():
        return key
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class NamedText(msgspec.Struct, frozen=True, gc=False):
    """A text with names: literals, remembered names, and places beside the value (`level` objects out) or in the file.

    `parts` are literals and triples of a level (0 for a remembered name, -1 for the whole file), a name and a place;
    `names` are the remembered names among them, and where it has no others it `is_of_names`.
    """

    text: str
    parts: tuple[str | tuple[int, str, FilePlace | None], ...]
    names: frozenset[str]
    is_of_names: bool

    @property
    def is_constant(self) -> bool:
        """Tell whether it is the same for all files."""
        return all(isinstance(part, str) for part in self.parts)

    def fill(self, match: Match, whole: Match, budget: Visits) -> tuple[str, str]:
        """The text, and "" or the part of it for which the file has nothing, or nothing that is one text."""
        if self.is_of_names and all(map(match.names.get, self.names)):
            return self.text.format_map(match.names), ""
        found = []
        for part in self.parts:
            if isinstance(part, str):
                found.append(part)
                continue
            level, name, place = part
            value = match.names.get(name, "") if place is None else _near(level, place, match, whole, budget)
            if not value:
                return "", f"{{{'.' * max(level, 0)}{name}}}"
            found.append(value)
        return "".join(found), ""


def _near(level: int, place: FilePlace, match: Match, whole: Match, budget: Visits) -> str:
    """The one text at a place in an object around a match, or in the whole file; "" where there is none, or several."""
    if level < 0:
        within = whole
    else:
        around = match.around
        for _ in range(level - 1):
            around = around and around[1]
        if around is None:
            return ""
        within = Match(around[0], "", match.names, around[1])
    found = place.find(within, whole, budget, match.names)
    return as_text(found[0].value) if len(found) == 1 else ""


@lru_cache(maxsize=2_000)
def parse_text(text: str) -> NamedText:
    """Parse a text with names. Raises ValueError with what to write instead."""
    parts, last = list[str | tuple[int, str, FilePlace | None]](), 0
    for found in TEXT_TOKEN.finditer(text):
        parts += [text[last : found.start()]] if found.start() > last else []
        last, inner = found.end(), found[1]
        if inner.startswith("/"):
            parts.append((-1, inner, parse_place(inner)))
        elif inner.startswith("."):
            name = inner.lstrip(".")
            parts.append((len(inner) - len(name), name, parse_place(name)))
        else:
            parts.append((0, _name(inner), None))
    parts += [text[last:]] if last < len(text) else []
    if any(isinstance(part, str) and set(part) & set("{}") for part in parts):
        raise ValueError(f"{text!r} has a brace without its pair")
    names = frozenset(part[1] for part in parts if isinstance(part, tuple) and part[0] == 0)
    return NamedText(text, tuple(parts), names, all(isinstance(part, str) or part[2] is None for part in parts))
