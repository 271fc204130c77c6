"""Forms: result files whose layout is data, read by places (`bot.evaluation.places`).

A form stands in a declaration (`[[formats]]`) or in `bot/data/formats/`. It says where in a file the measurements are,
which model each is of, and where its numbers are; everything else holds as for any format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from bot.errors import MalformedResult
from bot.evaluation.finding import examples
from bot.evaluation.formats.content import Content
from bot.evaluation.formats.fields import REVISION, SPELLED
from bot.evaluation.formats.form_reading import HALF, PASS, UNITS, FilePart, FormReader
from bot.evaluation.formats.format import Format, Kind, stderr_after
from bot.evaluation.places import FilePlace, Match, NamedText, Visits, as_text, parse_place, parse_text
from bot.evaluation.result import Result

REDUCE = re.compile(rf"mean|{PASS.pattern}")
FIELDS = ("model", "revision", "date", "precision", "chat_template", "harness", "version", "agent")
# What is no place, but the value itself: nobody calls a key so, and who does puts it in quotes.
VALUES: Mapping[str, Callable[[str], object]] = {
    "revision": REVISION.fullmatch,
    "date": re.compile(r"\d{4}-\d\d-\d\d.*").fullmatch,
    "precision": lambda text: SPELLED.get(text.lower()),
    "chat_template": lambda text: text in {"true", "false"},
    "version": re.compile(r"v?\d+(\.\d+)+\w*").fullmatch,
}
FIRST_ROWS = 10  # that are looked at for a number where the form says nothing else of what a file has
PATH_TOKEN = re.compile(r"\*\*/|\*|\{([^{}]*)\}")
WORD = re.compile(r"[\w-]+")
PATH_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
MOST_NAMES, MOST_STARS = 6, 8  # of a pattern of paths
# What goes with which kind of number.
WITH = {"of": ("right", "solved"), "reduce": ("trials", "right"), "outcomes": ("trials",), "question": ("trials",)}


class Value(msgspec.Struct, frozen=True, gc=False):
    """Where one kind of number lies, and what it is called, see `FormValue`.

    `kind` is value, right, solved or trials, `place` where that is; `check` is the value beside counts that give it.
    `errors` are the places of what says how exact it is, each with how many standard errors that is. `naming` are the
    remembered names in leaf and metric; where these are all that leaf and metric are made of, it `is_named_by_place`.
    `most` is the number of the unit that stands for all right, 0 where none does. `reduce` says how trials, or the
    counts of several runs, are made one number; "" where nothing does. `outcomes` are what texts of trials count, by
    these in lower letters, None for a trial that is left out.
    """

    kind: str
    place: FilePlace
    leaf: NamedText
    metric: NamedText
    unit: str
    most: float
    of: FilePlace | int | None
    samples: FilePlace | int | None
    errors: tuple[tuple[FilePlace, float], ...]
    check: FilePlace | None
    reduce: str
    outcomes: Mapping[str, float | None]
    question: NamedText | None
    less_is_better: bool
    naming: tuple[str, ...]
    is_named_by_place: bool

    @property
    def scale(self) -> float:
        """What stands for all right answers where the number is made from counts or outcomes."""
        return self.most or 1.0


class Form(msgspec.Struct, frozen=True, gc=False):
    """A form with its places parsed; `pattern` is that of its `files` as it is written, `words` all that it names."""

    id: str
    repository: str | None
    files: re.Pattern[str] | None
    pattern: str
    has: tuple[FilePlace, ...]
    rows: FilePlace | None
    fields: Mapping[str, FilePlace | NamedText]
    settings: Mapping[str, FilePlace | NamedText]
    values: tuple[Value, ...]
    words: frozenset[str]

    def recognise(self, content: Content) -> bool:
        """Tell whether a file is of this form, by its path where the form names one, and by what it has."""
        return not self.why_not(content)

    def why_not(self, content: Content) -> str:
        """What a file lacks to be of this form, "" for nothing. Raises MalformedResult for a broken file."""
        found = self.files.fullmatch(content.path) if self.files is not None else None
        if self.files is not None and found is None:
            return f"does not lie at {self.pattern}"
        document = content.document
        whole, budget = Match(document.value, "", {}, None), Visits()
        first = [whole.element(0, {})] if document.has_lines and document.value else []
        for place in self.has:
            is_there = document.shape.leads_somewhere(place, whole, budget)
            if not is_there and not any(place.leads_somewhere(line, whole, budget) for line in first):
                return f"has nothing at {place.text}"
        if self.has or self.files is not None:
            return ""
        reader = FormReader(self, document, {})
        for row in reader.rows()[:FIRST_ROWS]:
            reader.begin(row)
            if any(reader.leads_somewhere(value.place) for value in self.values):
                return ""
        return f"has nothing at {examples([value.place.text for value in self.values])}"

    def read(self, content: Content) -> list[FilePart]:
        """The measurements of a file. Raises MalformedResult where it has none."""
        found = self.files.fullmatch(content.path) if self.files is not None else None
        names = found.groupdict() if found else {}
        shortest = path_pattern(self.pattern, "?").fullmatch(content.path) if found else None
        if shortest is not None and shortest.groupdict() != names:
            how = "rename the file so that it reads in one, or name fewer parts of the path in the form"
            raise MalformedResult(f"lies at a path that {self.pattern} reads in two ways: {how}")
        return FormReader(self, content.document, names).read()


def compiled(data: Mapping[str, Any]) -> Form:
    """The form of a table of a declaration, whose types were checked. Raises ValueError with what to write instead."""
    files = path_pattern(data["files"]) if "files" in data else None
    rows = parse_place(data["rows"]) if "rows" in data else None
    known = frozenset(files.groupindex if files else ()) | (rows.names if rows else frozenset())
    return Form(
        id=data["id"],
        repository=data.get("repository"),
        files=files,
        pattern=data.get("files", ""),
        has=tuple(map(parse_place, data.get("has", ()))),
        rows=rows,
        fields={name: _field(name, as_text(data[name]), known) for name in FIELDS if name in data},
        settings={
            name.removesuffix("?"): parse_text(f"{{{name}}}") if name in known else parse_place(name)
            for name in data.get("settings", ())
            if not (name == "agent" and "agent" in data)
        },
        values=tuple(_value(one, known) for one in data["values"]),
        words=frozenset(WORD.findall(json.dumps(data))),
    )


@lru_cache(maxsize=200)
def path_pattern(pattern: str, how: str = "") -> re.Pattern[str]:
    """The pattern of a path: `*` and `{name}` are in one part, `**/` any folders; the folders before are anything.

    `how` is `?` for the shortest text that fits a name, instead of the longest. Raises ValueError with what to write
    instead.
    """
    names = [found[1] for found in PATH_TOKEN.finditer(pattern) if found[1] is not None]
    if len(set(names)) != len(names) or len(names) > MOST_NAMES or pattern.count("*") > MOST_STARS:
        raise ValueError(f"{pattern!r}: write each name once, and at most {MOST_NAMES} names and {MOST_STARS} stars")
    text, last = "", 0
    for found in PATH_TOKEN.finditer(pattern):
        text += re.escape(pattern[last : found.start()])
        last = found.end()
        if found[1] is None:
            text += "(?:[^/]+/)*" if found[0] == "**/" else "[^/]*"
        elif PATH_NAME.fullmatch(found[1]):
            text += f"(?P<{found[1]}>[^/]+{how})"
        else:
            raise ValueError(f"{found[0]} is no name: write letters, digits and _ in the braces of a path")
    return re.compile(f"(?:.*/)?{text}{re.escape(pattern[last:])}", re.DOTALL)


def _field(name: str, text: str, known: frozenset[str]) -> FilePlace | NamedText:
    """A place; a text where it has braces or is what such a field says, and for the harness always."""
    is_value = name == "harness" or (name in VALUES and VALUES[name](text))
    if not is_value and "{" not in text:
        return parse_place(text)
    found = parse_text(text)
    _check_names(found, known, name)
    return found


def _check_names(text: NamedText, known: frozenset[str], key: str) -> None:
    if unknown := sorted(text.names - known):
        there = f"; what is remembered is {', '.join(sorted(known))}" if known else ""
        beside = f"; what stands beside a value is {{.{unknown[0]}}}"
        raise ValueError(f"{key} = {text.text!r} has {{{unknown[0]}}}, which no place remembers{there}{beside}")


def _value(data: Mapping[str, Any], known: frozenset[str]) -> Value:
    kind = _kind(data)
    place = parse_place(data[kind])
    names = known | place.names
    reduce = data.get("reduce", "mean" if kind == "trials" else "")
    unit = data.get("unit", "fraction")
    metric = data.get("metric") or ("score" if reduce in {"", "mean"} else reduce)
    if kind == "right" and reduce not in {"", "mean"}:
        raise ValueError(f"reduce = {reduce!r}: counts of several runs have a mean alone")
    if reduce and REDUCE.fullmatch(reduce) is None:
        raise ValueError(f"reduce = {reduce!r}: write mean, pass@k or pass^k with a number for k")
    if kind == "trials" and PASS.fullmatch(metric) and metric != reduce:
        raise ValueError(f"metric = {metric!r} is not what reduce = {reduce!r} gives")
    texts = {"leaf": data["leaf"], "metric": metric, "question": data.get("question")}
    parsed = {key: parse_text(text) for key, text in texts.items() if text is not None}
    for key, text in parsed.items():
        _check_names(text, names, key)

    def beside(key: str) -> Any:
        """A place that goes with the number, or a count that is written out."""
        if not isinstance(data.get(key), str):
            return data.get(key)
        found = parse_place(data[key])
        if own := found.names - names:
            raise ValueError(f"{key} = {data[key]!r} has {{{min(own)}}}, which {kind} does not remember")
        return found

    return Value(
        kind=kind,
        place=place,
        leaf=parsed["leaf"],
        metric=parsed["metric"],
        unit=unit,
        most=UNITS[unit],
        of=beside("of"),
        samples=beside("samples"),
        errors=tuple((beside(key), size) for key, size in (("stderr", 1.0), ("interval", HALF)) if key in data),
        check=beside("value") if kind != "value" else None,
        reduce=reduce,
        outcomes={
            text.strip().lower(): None if one == "gap" else float(one) for text, one in data.get("outcomes", {}).items()
        },
        question=parsed.get("question"),
        less_is_better=data.get("higher_is_better") is False,
        naming=tuple(sorted(parsed["leaf"].names | parsed["metric"].names)),
        is_named_by_place=parsed["leaf"].is_of_names and parsed["metric"].is_of_names,
    )


def _kind(data: Mapping[str, Any]) -> str:
    """Which kind of number a table has. Raises ValueError for none, for several, and for keys of another kind."""
    kinds = [kind for kind in ("right", "solved", "trials") if kind in data] or ["value"]
    if len(kinds) > 1 or kinds[0] not in data:
        raise ValueError("a value has one of right, solved and trials, or value alone; a value beside them is compared")
    kind = kinds[0]
    if kind in WITH["of"] and "of" not in data:
        raise ValueError(f"{kind} needs of: where the number of questions is, or the number itself")
    if kind != "value" and data.get("unit") == "count":
        raise ValueError(f'unit = "count" goes with value: {kind} gives a share of all')
    for key, needs in WITH.items():
        if key in data and kind not in needs:
            raise ValueError(f"{key} goes with {' or '.join(needs)}")
    return kind


def format_of_form(data: Mapping[str, Any]) -> Format:
    """The format that a form is. Raises ValueError, see `compiled`."""
    form = compiled(data)
    leaves = [value.leaf for value in form.values]
    counts = any(value.samples or value.kind != "value" for value in form.values)
    return Format(
        id=form.id,
        title=data.get("title") or form.id,
        recognise=form.recognise,
        parse=lambda content: form.read(content)[0].result,
        parts=form.read,
        why_not=form.why_not,
        naming=data.get("naming", ""),
        pinning=data.get("pinning", ""),
        stderr_key=stderr_after,
        starts=tuple(one.encode() for one in data.get("starts", ("",))),
        shows=frozenset({"samples"}) if counts else frozenset(),
        has_order=True,
        names_by_path=any(isinstance(one, NamedText) and one.names for one in form.fields.values()),
        others=tuple(Kind(**one) for one in data.get("others", ())),
        is_form=True,
        only_leaves=frozenset([one.text for one in leaves]) if all(one.is_constant for one in leaves) else None,
    )


def declared_only(format_id: str) -> Format:
    """What is known of a form by its id alone: how its values are spelled, but not how to read a file."""

    def unreadable(_: Content) -> Result:
        raise MalformedResult(f"is of the form {format_id}, which this declaration does not have")

    return Format(
        id=format_id,
        title=format_id,
        recognise=lambda _: False,
        parse=unreadable,
        stderr_key=stderr_after,
        starts=(),
        naming="",
        pinning="",
        shows=frozenset({"samples"}),
        has_order=True,
        is_form=True,
    )
