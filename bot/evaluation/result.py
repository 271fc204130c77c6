"""One evaluation as measured, independent of the file format; formats make it, rules and scores read it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

KEY = re.compile(r"\{(leaf|value)\}")
FALLBACK = {"value": "leaf", "num_fewshot": "leaf", "version": "leaf", "samples": "leaf", "leaf": "leaves"}
FALLBACK |= {"unscored": "leaf", "reducer": "leaf", "definition": "leaf"}
MOST_PARAMETERS = 10**14  # of a model; more is a mistake


def model_size(parameters: int | None) -> int | None:
    """The number of parameters where a model can have so many, else None."""
    return parameters if parameters and 0 < parameters <= MOST_PARAMETERS else None


class Model(msgspec.Struct, frozen=True, gc=False):
    """Which model was measured, as far as the file says.

    `id` and `revision` are "" if the file names none, `precision` is a dtype such as "bfloat16" or a quantization
    such as "4bit", `chat_template` None where nothing says whether one was used, `source` the harness's model class
    ("hf", "vllm"), `args` its arguments as one text.
    `is_mapped` says that a person named it by a mapping, `is_plain` that its board takes a name without an organization
    as an id. `parameters` is their number, `size` the bytes of the weights
    in memory, None if the file does not say.
    """

    id: str = ""
    revision: str = ""
    precision: str = ""
    chat_template: bool | None = None
    source: str = ""
    args: str = ""
    requested_revision: str = ""
    is_mapped: bool = False
    parameters: int | None = None
    size: int | None = None
    is_plain: bool = False


class HarnessVersion(msgspec.Struct, frozen=True, gc=False):
    """The harness that measured; the fields are None if the file does not say."""

    name: str
    repository: str | None = None
    git_hash: str | None = None
    version: str | None = None


class Scoring(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """How a file says that the answers of a leaf are scored.

    `output` is the kind of request ("multiple_choice", "loglikelihood", "generate_until"), `own` whether the task has a
    scoring function of its own. `metrics` has the options of each metric, and `filters` the steps of each answer
    filter, both as JSON. `delimiter` is what stands before each choice, None where the file does not say. `target` is
    the field or the template that gives the right answer, "" where it is a function.
    """

    output: str
    own: bool = False
    metrics: Mapping[str, str] = {}
    filters: Mapping[str, str] = {}
    delimiter: str | None = None
    target: str = ""


class LeafResult(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One task that was run: its row of numbers as in the file (nothing checked), and what was recorded of the run.

    `samples` is the number of samples that were scored, `original` the size of the task; None if not recorded.
    `unscored` counts samples that ran and have no score, so that they are missing from the mean, and `errored` those
    that ended with an error and are missing from it, too. `reducer` says how
    several answers to one sample became one number ("mean", "max", "pass_at_2"), "" if each was answered once;
    `epochs` is the number of those answers. `until` is the text at which generation stopped, "" if that is not
    recorded; several are joined by a line break. `pointers` says where a number lies, by its key, in formats where that
    does not follow from the keys. `definition` is the digest of its definition, "" where the file does not record one.
    `less_is_better` are the keys of the numbers of which the file says so, `ranges` what it says that others can be.
    `contradicted` says of numbers what other parts of the same file give for them, where that is another value.
    `main` is the key of the number that the tool itself takes for the task's score, "" where it names none.
    `scoring` is the place of how it is scored in `Result.scorings`, -1 where the file does not say.
    """

    numbers: Mapping[str, Any]
    num_fewshot: int | None = None
    version: float | str | None = None
    samples: int | None = None
    original: int | None = None
    pointers: Mapping[str, str] = {}
    unscored: int | None = None
    errored: int | None = None
    reducer: str = ""
    epochs: int = 1
    until: str = ""
    definition: str = ""
    less_is_better: tuple[str, ...] = ()
    ranges: Mapping[str, tuple[float, float]] = {}
    contradicted: Mapping[str, str] = {}
    scoring: int = -1
    main: str = ""


class AskedField(msgspec.Struct, frozen=True, gc=False, array_like=True, cache_hash=True):
    """A field of a leaf's definition, such as its prompt: the digest of its value, and the beginning of its text.

    `digest` is "" for a field that the format always records and this file leaves out. `text` is "" where the digest is
    that of a shipped value, whose text is known.
    """

    field: str
    digest: str
    text: str = ""


class GroupRow(msgspec.Struct, frozen=True, gc=False):
    """An aggregate row: the group's key, where the row lies, and its numbers as in the file."""

    key: str
    pointer: str
    numbers: Mapping[str, Any]


class MalformedField(msgspec.Struct, frozen=True, gc=False):
    """A field that is too long or holds characters that it cannot hold; the result has it cut and cleaned."""

    name: str
    pointer: str
    why: str


class Misread(msgspec.Struct, frozen=True, gc=False):
    """A place of a form that does not give what it should: the place, where in the file, why, and what to do.

    `is_error` says that a number or the model cannot be believed; elsewhere something beside them is not known.
    """

    place: str
    pointer: str
    why: str
    is_error: bool = False
    hint: str = ""


class Contradiction(msgspec.Struct, frozen=True, gc=False):
    """What the file says in two places and says differently: a sentence, where, and whether these are two models.

    `hint` says what to do where the harness itself wrote it so.
    """

    what: str
    pointer: str
    is_error: bool = False
    hint: str = ""


class RepeatedKey(msgspec.Struct, frozen=True, gc=False):
    """A key that one object of the file has twice with different values: where, and the values as short texts."""

    pointer: str
    values: tuple[str, ...]


class WrongMetric(msgspec.Struct, frozen=True, gc=False):
    """A metric whose samples have other values than their logged answers give: how many, and the first of them."""

    metric: str
    count: int
    first: str


class CheckedSamples(msgspec.Struct, frozen=True, gc=False):
    """What the sample log of a leaf shows; metrics have the keys of the result.

    `count` is the number of samples of one filter, `documents` a digest of their documents in any order. `means` are
    the means of metrics whose value must be one, `answers` the metrics that follow from the logged answers wherever
    they can be scored again, `wrong` those that do not, `unscored` those of which samples with a score lack what it
    would follow from. `unanswered` counts answers that are empty or end inside of thoughts, `answered_mean` is the mean
    of the first metric over the others. `others` says why the questions are not those of the result,
    `unreadable` why the log cannot be read to its end; both are "" where nothing is wrong. `mark` tells the log from
    those of other runs, see `AnswerMark`. `prompts` is a digest of what was asked in which words, `scoring` of how the
    settings say that it is scored, and `unknown` says of metrics that are not scored again why not.
    """

    leaf: str
    path: str
    sha256: str = ""
    count: int = 0
    documents: str = ""
    means: Mapping[str, float] = {}
    answers: tuple[str, ...] = ()
    wrong: tuple[WrongMetric, ...] = ()
    others: str = ""
    unreadable: str = ""
    unscored: tuple[WrongMetric, ...] = ()
    unanswered: int = 0
    answered_mean: float | None = None
    mark: str = ""
    prompts: str = ""
    scoring: str = ""
    unknown: Mapping[str, str] = {}


class Result(msgspec.Struct, frozen=True, gc=False):
    """The measurements of one submission.

    `leaves` holds every row of results that is not a group, by its key in the format; `groups` the rows that are
    aggregates, `subtasks` the members of each group. `format` is the id of the format, which `parse_content` fills in.
    `settings` are the generation settings that runs must share to stand in one row, as texts. `date` is in Unix
    seconds.

    `unfinished` says why the run did not end as it should, in the file's word ("cancelled", "error", "started"), ""
    where it did or where the format does not record it; `invalidated` that somebody marked the run as not valid, and
    `edited` that scores were changed after the run.
    `quoted_from` names the place that the numbers were copied from, "" if the file was written by what measured.
    `secrets` are the JSON pointers of fields that hold a password or token: a result never holds their values.
    `repeated` are keys that the file has twice with different values, `contradictions` what it says in two places and
    says differently. `definitions` has the numbers of the fields of each definition that is not shipped, by its digest,
    and `asked` these fields. `scorings` are the ways in which leaves are scored.
    `misread` are places of a form that did not give what they should, `unmatched` the places of numbers that nothing
    in the file has. `unread` has the texts and switches of a form's row that the form does not read, as digests by
    their keys: nobody knows what they hold. `prompts` are the tool's own hashes of all prompts of a leaf. `conditions`
    say how it ran where that keeps no results apart, by names for people: batches, libraries, the machine.

    `places` says where fields lie, see `pointer_to`; `original_keys` are the keys as the file spells them, where
    `leaves` has them otherwise. A result can be stored: it holds plain values that MessagePack can write, of bounded
    length.
    """

    model: Model
    harness: HarnessVersion
    leaves: Mapping[str, LeafResult]
    format: str = ""
    limit: float | None = None
    date: float | None = None
    settings: Mapping[str, str] = {}
    groups: tuple[GroupRow, ...] = ()
    subtasks: Mapping[str, tuple[str, ...]] = {}
    task_hashes: Mapping[str, str] = {}
    places: Mapping[str, str] = {}
    original_keys: Mapping[str, str] = {}
    malformed: tuple[MalformedField, ...] = ()
    unfinished: str = ""
    invalidated: bool = False
    edited: bool = False
    quoted_from: str = ""
    secrets: tuple[str, ...] = ()
    repeated: tuple[RepeatedKey, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    definitions: Mapping[str, tuple[int, ...]] = {}
    asked: tuple[AskedField, ...] = ()
    misread: tuple[Misread, ...] = ()
    unmatched: tuple[str, ...] = ()
    scorings: tuple[Scoring, ...] = ()
    unread: Mapping[str, str] = {}
    prompts: Mapping[str, str] = {}
    conditions: Mapping[str, str] = {}

    def pointer_to(self, field: str, leaf_key: str = "", value_key: str = "") -> str:
        """Where a field lies: a JSON pointer, after the file's name and `#` where the submission is of several files.

        `field` is a key of `places`: `model`, `revision`, `arguments`, `commit`, `release`, `limit`, `chat_template`,
        `leaves` (all rows), `unfinished`, `invalidated`, `edited`, `quoted_from`, and for one leaf `leaf` (its row),
        `value`, `num_fewshot`, `version`, `samples`, `unscored`, `reducer` and `definition`. In `places`, `{leaf}` and
        `{value}` stand for the keys. A field that the format does not record lies where its row or the whole file does.
        """
        if field == "value" and leaf_key in self.leaves and value_key in self.leaves[leaf_key].pointers:
            return self.leaves[leaf_key].pointers[value_key]
        while field not in self.places:
            if field not in FALLBACK:
                return ""
            field = FALLBACK[field]
        keys = {"leaf": self.original_keys.get(leaf_key, leaf_key), "value": value_key}
        return KEY.sub(lambda match: escape_pointer(keys[match[1]]), self.places[field])

    def records(self, field: str) -> bool:
        """Tell whether the format records a field at all."""
        return field in self.places


def escape_pointer(part: str) -> str:
    """One reference token of a JSON pointer (RFC 6901, section 3)."""
    return part.replace("~", "~0").replace("/", "~1")
