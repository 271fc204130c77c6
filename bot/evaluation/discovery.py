"""Find the submissions among files: which files belong together, which are results, and what the others are.

One policy for the command line, the Action and the service. They hand in a listing and a function that reads; nothing
here opens anything. A file is refused as cheaply as possible: by its size and first bytes before it is read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from bot.evaluation.finding import in_units
from bot.evaluation.formats import MAX_BYTES, formats, most_of
from bot.evaluation.formats.content import OTHER_TOOL
from bot.evaluation.formats.format import NOTHING_TO_DO, STARTS, Format, Kind
from bot.evaluation.formats.other_files import OTHER, is_json_lines, kind_of_head, kind_of_json
from bot.evaluation.formats.zip_members import MAGIC
from bot.evaluation.forms import DeclaredForm
from bot.evaluation.submission import Parsed, Problem, UnreadPath, parse_submission

HEAD = 4_096  # bytes that a file is recognised by before it is read
AT_ONCE = 1_000_000  # bytes up to which a file is read without a look at its head first
# Files that hold no result whatever is in them; one that is named itself is looked at all the same.
SKIPPED = frozenset({
    ".arrow", ".bin", ".bz2", ".ckpt", ".css", ".gguf", ".gif", ".gz", ".h5", ".html", ".jpeg", ".jpg", ".js", ".lock",
    ".md", ".mp4", ".npy", ".npz", ".onnx", ".parquet", ".pdf", ".pickle", ".pkl", ".png", ".pt", ".pth", ".py", ".pyc",
    ".safetensors", ".sh", ".svg", ".tar", ".toml", ".ts", ".webp", ".whl", ".xz",
})  # fmt: skip

TABLES = frozenset({".csv", ".htm", ".html", ".markdown", ".md", ".tsv", ".txt", ".yaml", ".yml"})
ADOPT = (
    "`leaderboard-bot init FOLDER --table FILE --results PATH` adopts a table; "
    "`leaderboard-bot explain RESULTS --reported NUMBER` finds how a number of one was made"
)
NOT_JSON = "is not JSON"
VALUE = re.compile(rb"\s*(?:[\[{\"\d-]|(?:null|true|false)\s*$)")  # how JSON begins
BROKEN = Kind(
    OTHER.id, OTHER.title, "it is called .json and is not JSON: if it was a result, upload it as the harness wrote it"
)
RESULT_NAME = re.compile(r"(?:.*/)?results(_[^/]*)?\.json")  # as harnesses call a file of results
LINES = "is a file of JSON lines of no format that leaderboard-bot reads"

Read = Callable[[str, int], bytes | None]


class ListedFile(NamedTuple):
    """A file of a listing, its size in bytes."""

    path: str
    size: int


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """Files that may be a submission: one file, or the run's folder that `path` names.

    `files` are those that are read, `others` the paths of files that belong to the run and are not. `limit` is the most
    bytes of each file of a run's folder, 0 for a file alone. `lies_at` is the whole path of a file whose `path` is only
    a part of it. `forms` are those of the declaration; `is_of_forms` says that nothing else is tried.
    """

    path: str
    files: tuple[ListedFile, ...]
    others: tuple[str, ...] = ()
    limit: int = 0
    lies_at: str = ""
    forms: tuple[DeclaredForm, ...] = ()
    is_of_forms: bool = False


def candidates_in(listing: Iterable[ListedFile], forms: tuple[DeclaredForm, ...] = ()) -> list[Candidate]:
    """Put the files of runs' folders together by their names, in the order of the paths.

    `forms` are those of the declaration that the files are read under.
    """
    folders: defaultdict[str, dict[str, ListedFile]] = defaultdict(dict)
    for file in listing:
        folder, _, name = file.path.rpartition("/")
        folders[folder][name] = file
    found = [candidate for folder, files in folders.items() for candidate in _in_folder(folder, files)]
    found = [replace(one, forms=forms) for one in found] if forms else found
    return sorted(found, key=lambda candidate: candidate.path)


def is_of_a_run(path: str) -> bool:
    """Tell whether a file has the name of one that belongs to a run's folder, in any format."""
    name = path.rpartition("/")[2]
    return any(name in (*known.members, *known.optional, *known.beside) for known in formats())


def _in_folder(folder: str, files: dict[str, ListedFile]) -> Iterator[Candidate]:
    for known in formats():
        if known.members and all(name in files for name in known.members):
            too_large = [name for name in known.optional if name in files and files[name].size > known.max_bytes]
            others = [files.pop(name).path for name in (*known.beside, *too_large) if name in files]
            wanted = [files.pop(name) for name in (*known.members, *known.optional) if name in files]
            yield Candidate(folder, tuple(wanted), tuple(others), known.max_bytes)
    yield from (Candidate(file.path, (file,)) for file in files.values())


def read_candidate(
    candidate: Candidate, read: Read, *, is_named: bool = False, max_bytes: int = MAX_BYTES
) -> Parsed | UnreadPath:
    """Read a candidate as a submission, or say what it is.

    `read` gives at most so many bytes of the beginning of a file, None if it is gone, and may give none of a file
    that is larger than it can read. A file that is named itself is a submission, with a problem where it is no result,
    but for kinds with which nothing needs to be done. One of more than `max_bytes` is not read; formats that are larger
    by nature, such as archives, have their own limit, and so have the files of folders.
    """
    if candidate.limit:
        return _parsed_folder(candidate, read, is_named=is_named)
    (file,) = candidate.files
    if not is_named and _suffix(file.path) in SKIPPED:
        return UnreadPath(file.path, OTHER.id, OTHER.advice)
    head = read(file.path, file.size + 1 if file.size <= AT_ONCE else HEAD)
    if head is None:
        return Parsed(file.path, "", file.size, problem=Problem("is gone"))
    forms = tuple([form.format for form in candidate.forms])
    own = most_of(head[:STARTS].lstrip(), forms)  # 0 if none begins so
    limit = own if own > MAX_BYTES else max_bytes
    kind = None
    if not head.startswith(b"{"):  # the first bytes of an object never tell what it is
        is_looked_into = own or is_named or not head or RESULT_NAME.fullmatch(file.path)
        kind = kind_of_head(head) or (None if is_looked_into else _other(file.path, head))
    if kind is not None:
        return _unread(file, kind, is_named=is_named)
    if file.size > limit:
        return _too_large(file, head, limit, is_named=is_named)
    data = head if file.size <= AT_ONCE else read(file.path, file.size)
    if candidate.is_of_forms and data is not None:
        parsed = parse_submission(file.path, {"": data}, candidate.lies_at, forms, alone=True)
        is_of_form = parsed.problem is None or parsed.problem.is_recognised
        return parsed if is_of_form else UnreadPath(file.path, OTHER.id, parsed.problem.why if parsed.problem else "")
    return _parsed(file, data, candidate.lies_at, forms, is_named=is_named)


def _other(path: str, head: bytes) -> Kind:
    """The kind of a file that begins as none that is known; a page may have been saved under the name of a result."""
    return BROKEN if _suffix(path) == ".json" and not VALUE.match(head) else OTHER


def _parsed(
    file: ListedFile, data: bytes | None, lies_at: str, forms: Sequence[Format], *, is_named: bool
) -> Parsed | UnreadPath:
    """A file as a submission; one that no format reads is one only where it is named, or a result that is damaged."""
    if data is None:
        return Parsed(file.path, "", file.size, problem=Problem("is gone"))
    parsed = parse_submission(file.path, {"": data}, lies_at, forms)
    problem = parsed.problem
    if problem is None:
        return parsed
    kind = kind_of_json(data)
    if kind is not None:
        return _unread(file, kind, is_named=is_named, sha256=parsed.sha256)
    if problem.why.startswith(NOT_JSON):
        if is_named and _suffix(file.path) in TABLES:
            problem = Problem("is a table or a text, not a result", hint=ADOPT)
        elif is_json_lines(data):
            problem = Problem(LINES, hint=OTHER_TOOL)
    is_like_one = data.startswith(MAGIC) or b'"results"' in data or _begins_as_one_format(data[:STARTS])
    is_like_one = is_like_one or RESULT_NAME.fullmatch(file.path) is not None
    is_damaged = problem.is_recognised or (problem.is_damage and is_like_one)
    return replace(parsed, problem=problem) if is_named or is_damaged else UnreadPath(file.path, OTHER.id, problem.why)


def _parsed_folder(candidate: Candidate, read: Read, *, is_named: bool) -> Parsed | UnreadPath:
    """A run's folder as a submission; files of other contents under the same names are not a run.

    One that is too large or gone is not read.
    """
    path, limit, files = candidate.path, candidate.limit, dict[str, bytes]()
    for file in candidate.files:
        data = read(file.path, limit) if file.size <= limit else None
        if data is None:
            is_large = file.size > limit
            why = f"has a file of {in_units(file.size)}; the limit is {in_units(limit)}" if is_large else "is gone"
            return Parsed(path, "", sum(file.size for file in candidate.files), problem=Problem(why))
        files[file.path.removeprefix(path).lstrip("/")] = data
    parsed = parse_submission(path, files)
    if parsed.problem is None or parsed.problem.is_damage or is_named:
        return parsed
    return UnreadPath(path, OTHER.id, parsed.problem.why)


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2].lower()
    return name[name.rfind(".") :] if "." in name else ""


def _begins_as_one_format(start: bytes) -> bool:
    """Tell whether these bytes are the begin that only one JSON format has."""
    begins = [begin for known in formats() for begin in known.starts if begin.startswith(b'{"')]
    return start.lstrip().startswith(tuple(begins))


def _too_large(file: ListedFile, head: bytes, limit: int, *, is_named: bool) -> Parsed | UnreadPath:
    kind = kind_of_json(head)
    if kind is not None:
        return _unread(file, kind, is_named=is_named)
    hint = next(filter(None, (known.when_large(head) for known in formats())), "")
    problem = Problem(f"has {in_units(file.size)}; the limit is {in_units(limit)}", hint=hint)
    if is_named or b'"results"' in head or hint:
        return Parsed(file.path, "", file.size, problem=problem)
    return UnreadPath(file.path, OTHER.id, problem.why)


def _unread(file: ListedFile, kind: Kind, *, is_named: bool, sha256: str = "") -> Parsed | UnreadPath:
    if not is_named or kind.advice.startswith(NOTHING_TO_DO):  # which would be no error that somebody can mend
        return UnreadPath(file.path, kind.id, kind.advice)
    return Parsed(file.path, sha256, file.size, problem=Problem(f"is {kind.title}, not a result", hint=kind.advice))
