"""The settings file `bot.toml`: its keys, their defaults, and checks that name every fault."""

from __future__ import annotations

import fnmatch
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from os.path import normpath
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StringConstraints,
    model_validator,
)

from bot.errors import CallError, MalformedDeclaration
from bot.evaluation.formats import MAX_BYTES
from bot.evaluation.identity import why_no_mapping
from bot.evaluation.toml_file import parse_toml, read_toml, spelled
from bot.platforms.hub.address import BUCKETS, MODELS
from bot.platforms.platform import Access
from bot.publishing.hub_evals.model_layout import ModelsOptions
from bot.publishing.publication import Form
from bot.publishing.tables.mapping import TableOptions
from bot.reporting.escape import without_user

SERVICES = ("hf", "github")  # the services that have accounts, by the schemes of their addresses
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
LONGEST_PERIOD = 365 * UNITS["d"]  # no thread can wait for as long as can be written
Name = Annotated[
    str, spelled(r"[A-Za-z0-9][\w.-]*", "write letters, digits and _ . - without spaces; first a letter or digit")
]


def _without_password(text: str) -> str:
    if without_user(text) != text:
        raise ValueError("an address holds no user and password; tokens are set in the environment")
    return text


Trimmed = Annotated[
    str, spelled(r"(?s)(\S(.*\S)?)?", "write it without blanks around it"), AfterValidator(_without_password)
]
Text = Annotated[Trimmed, StringConstraints(min_length=1)]
Account = Annotated[
    str,
    spelled(r"((hf|github):)?[^\s:@]+", 'write the name of an account, such as "ann", "hf:ann" or "github:ann"'),
]
# Nothing in it can end a link of Markdown.
PublicUrl = Annotated[
    str,
    spelled(
        r"|https?://[\w.:\[\]-]+(/[\w./~-]*[\w~-])?",
        "write an address that begins with https:// or http://, without / at its end",
    ),
]


def seconds(value: object) -> float:
    """A length of time such as "90s", "15m", "2h" or "1d", in seconds."""
    match = re.fullmatch(r"(\d+)([smhd])", value) if isinstance(value, str) else None
    found = int(match[1]) * UNITS[match[2]] if match else 0
    if not 0 < found <= LONGEST_PERIOD:
        raise ValueError('write a length of time such as "15m" or "2h", at most "365d"')
    return float(found)


def limit(value: object) -> object:
    """A number of rows, or a share of the board such as "10%"."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and re.fullmatch(r"\d{1,3}%", value) and int(value[:-1]) <= 100:
        return value
    raise ValueError('write a number of rows such as 20, or a share of the board such as "10%"')


Limit = Annotated[int | str, BeforeValidator(limit)]
Period = Annotated[float, BeforeValidator(seconds)]


class _Declared(BaseModel):
    """A table of the settings, in which unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class WatchTarget(_Declared):
    """Where a watch publishes, and how.

    `discussion` is the number of the discussion or issue that holds the rows of the form `comment`. `kind` says how
    rows lie there: one file each, as rows of a table that somebody keeps, which `table` describes, or on the pages of
    the models that `models` allows.
    """

    to: Text
    form: Annotated[Form, Field(alias="as")] = "pull-request"
    discussion: Annotated[int, Field(gt=0, strict=True)] | None = None
    kind: Literal["entries", "table", "models"] = "entries"
    table: TableOptions | None = None
    models: ModelsOptions | None = None

    @model_validator(mode="before")
    @classmethod
    def _models_are_a_kind(cls, data: Any) -> Any:
        """Set `kind` where the address already says it."""
        return {"kind": "models", **data} if isinstance(data, dict) and data.get("to") == MODELS else data

    @model_validator(mode="after")
    def _discussion_is_for_comments(self) -> Self:
        if self.discussion is not None and self.form != "comment":
            raise ValueError('discussion needs as = "comment"')
        return self

    @model_validator(mode="after")
    def _models_are_allowed(self) -> Self:
        if len({self.to == MODELS, self.kind == "models", self.models is not None}) > 1:
            raise ValueError(f'to = "{MODELS}" and [watches.targets.models], which lists organizations, go together')
        if self.kind == "models" and self.form != "pull-request":
            raise ValueError('the pages of models need as = "pull-request"')
        return self

    @model_validator(mode="after")
    def _table_is_described(self) -> Self:
        if (self.kind == "table") != (self.table is not None):
            raise ValueError('kind = "table" and [watches.targets.table] go together')
        if self.kind == "table" and self.form == "comment":
            raise ValueError('a table needs as = "pull-request" or "commit"')
        return self

    @property
    def has_board(self) -> bool:
        """Tell whether the rows there are files of their own, from which a board follows."""
        return self.kind == "entries" and self.form != "comment"

    @property
    def place(self) -> str:
        """Its address in one spelling."""
        return self.to.rstrip("/").casefold() if "://" in self.to else normpath(self.to)

    def places_of(self, leaderboard: str) -> list[str]:
        """What only one watch can write: rows of a leaderboard that are no entries, and each column of a table."""
        if self.kind == "entries":
            return []
        table = self.table
        columns = [name for name in table.columns if name not in table.key] if table else []
        where = f"{table.path} {table.at}".rstrip() if table else ""
        return [f"rows of {leaderboard} to {self.place}", *(f"{name} of {where} at {self.place}" for name in columns)]


class FolderIdentity(_Declared):
    """The model of the files in some folders: `path` is a pattern of folders, `id` and `revision` repeat its stars."""

    path: Annotated[str, spelled(r".*[^/*].*/|.*\*.*[^*/].*", "write folders that end in /, such as runs/step-*/")]
    id: Text
    revision: str = ""

    @property
    def value(self) -> str:
        """The id and the revision as `--model-name` has them."""
        return f"{self.id}@{self.revision}" if self.revision else self.id

    @model_validator(mode="after")
    def _maps_a_model(self) -> Self:
        if why := why_no_mapping(self.path, self.value):
            raise ValueError(why)
        return self


class _WatchKeys(_Declared):
    """The keys of a watch except its source.

    `settle_every` is in seconds. `backfill_limit` is the number of new rows of one settlement beyond which they share
    one rolling request. `maintainers` are accounts that may waive rules, approve plans, and merge or decline what is
    proposed, by comments. What `former_accounts` wrote at the services counts as the bot's. `hf:ann` and `github:ann`
    are accounts of one service, and a watch on both has no others. Where one pass would remove
    or change more rows than `max_removed` and `max_changed` allow, a plan waits for approval.
    A result file of more than `max_file_bytes` is not read; archives have their own limit.
    `say_success` answers good pushes too. `owners` has, by the prefix of a path, the organizations whose models may
    be submitted there, and `identity` the models of the files in some folders.
    `site` is where the board is published as a web site when it is rebuilt.
    """

    name: Name
    leaderboard: Text
    paths: Annotated[tuple[Text, ...], Field(min_length=1)] = ("**/*.json", "**/*.eval")
    settle_every: Period = 900.0
    pull_requests: Literal["entry", "rolling"] = "entry"
    backfill_limit: Annotated[int, Field(gt=0, strict=True)] = 20
    comments: StrictBool = True
    say_success: StrictBool = False
    maintainers: tuple[Account, ...] = ()
    former_accounts: tuple[Account, ...] = ()
    max_removed: Limit = "10%"
    max_changed: Limit = "10%"
    max_file_bytes: Annotated[int, Field(gt=0, strict=True)] = MAX_BYTES
    owners: dict[Text, tuple[Text, ...]] = Field(default_factory=dict)
    identity: tuple[FolderIdentity, ...] = ()
    look_up_commits: StrictBool = False
    look_up_heads: StrictBool = False
    look_up_models: StrictBool = False
    site: Trimmed = ""
    targets: Annotated[tuple[WatchTarget, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _paths_select_something(self) -> Self:
        if all(path.startswith("!") for path in self.paths):
            raise ValueError("paths: name files, such as **/*.json; a pattern that begins with ! only leaves files out")
        return self

    @model_validator(mode="after")
    def _a_table_is_alone_in_its_repository(self) -> Self:
        """Refuse a table beside another target in one repository: the rows of a watch share one request there."""
        addresses = [target.to for target in self.targets]
        for target in self.targets:
            if target.kind != "entries" and addresses.count(target.to) > 1:
                raise ValueError(f'{target.to} is a target of kind = "{target.kind}": the watch names it once')
        return self

    @model_validator(mode="after")
    def _no_place_gets_a_row_twice(self) -> Self:
        """Refuse one place for requests and commits: the commits would publish what people still review."""
        places: dict[str, str] = {}
        for target in (target for target in self.targets if target.form != "comment"):
            if target.place in places:
                raise ValueError(f"the targets {places[target.place]} and {target.to} are the same place: name it once")
            places[target.place] = target.to
        return self


class Watch(_WatchKeys):
    """A source, a leaderboard, and its targets."""

    source: Text

    def of_source(self, source: str) -> Self:
        """The watch of one source among several, with a name of its own."""
        return self.model_copy(update={"name": source_name(self.name, source), "source": source})

    @property
    def addresses(self) -> tuple[str, ...]:
        """Its source and its targets."""
        return (self.source, *(target.to for target in self.targets))

    def is_on(self, service: str) -> bool:
        """Tell whether its source or one of its targets is at a service."""
        return any(address.startswith(f"{service}://") for address in self.addresses)

    def maintainers_at(self, address: str) -> tuple[str, ...]:
        """The maintainers by their names at the service of an address."""
        return names_at(self.maintainers, address.partition("://")[0])


def names_at(accounts: Iterable[str], service: str) -> tuple[str, ...]:
    """The names of accounts at one service: those without a service in front, and those of this service."""
    parts = (account.rpartition(":") for account in accounts)
    return tuple(name for of, _, name in parts if of in {"", service})


def source_name(watch: str, source: str) -> str:
    """The name of the watch of one source among several: `open-llm.acme--results`."""
    plain = re.sub(r"^(hf://(datasets/)?|github://)", "", source)
    name = re.sub(r"[^\w.-]+", "-", plain.replace("/", "--")).strip("-.") or "source"
    is_plain = name.replace("--", "/") == plain
    return f"{watch}.{name if is_plain else f'{name}-{hashlib.sha256(source.encode()).hexdigest()[:8]}'}"


class DeclaredWatch(_WatchKeys):
    """A watch as it is written; it stands for one watch for each of its sources."""

    source: Annotated[
        tuple[Text, ...], BeforeValidator(lambda one: [one] if isinstance(one, str) else one), Field(min_length=1)
    ]

    @model_validator(mode="after")
    def _a_name_is_one_person(self) -> Self:
        """Refuse a maintainer without a service where a watch is on two: at one of them it may be a stranger."""
        bare = [name for name in (*self.maintainers, *self.former_accounts) if ":" not in name]
        if bare and any(all(watch.is_on(service) for service in SERVICES) for watch in self.watches()):
            raise ValueError(
                f'the watch is on the Hub and on GitHub, where {bare[0]} may be two people: write "hf:{bare[0]}" or '
                f'"github:{bare[0]}" in `maintainers` and `former_accounts`, or both'
            )
        return self

    @model_validator(mode="after")
    def _the_files_of_a_bucket_are_kept(self) -> Self:
        """Refuse a target that cannot keep files for a bucket, whose own files may change at any time."""
        buckets = [source for source in self.source if source.startswith(BUCKETS)]
        for target in self.targets if buckets else ():
            is_table = target.table is not None and not target.table.records
            if is_table or target.kind == "models" or target.form == "comment":
                raise ValueError(
                    f"{buckets[0]} can change at any time, and {target.to} cannot keep its files beside the rows: "
                    'publish entries, or a table with `records = true`, as "pull-request" or "commit"'
                )
        return self

    def watches(self) -> Iterator[Watch]:
        """A watch for each source, named after it where there are several."""
        keys = {name: getattr(self, name) for name in _WatchKeys.model_fields if name in self.model_fields_set}
        for source in self.source:
            watch = Watch.model_construct(**(keys | {"source": source}))
            yield watch if len(self.source) == 1 else watch.of_source(source)


class DeclaredSettings(_Declared):
    """The settings as they are written."""

    public_url: PublicUrl = ""
    watches: Annotated[tuple[DeclaredWatch, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_are_different(self) -> Self:
        names = [watch.name for declared in self.watches for watch in declared.watches()]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"the watch {name} is declared twice")
        return self

    @model_validator(mode="after")
    def _one_watch_writes_a_table_or_a_model(self) -> Self:
        if why := why_they_fight([watch for declared in self.watches for watch in declared.watches()]):
            raise ValueError(why)
        return self


def why_they_fight(watches: Iterable[Watch]) -> str:
    """Why two watches cannot go together: each would overwrite what the other writes; "" if they can."""
    writers: dict[str, str] = {}
    for watch in watches:
        for place in (place for target in watch.targets for place in target.places_of(watch.leaderboard)):
            if (other := writers.setdefault(place, watch.name)) != watch.name:
                why = "only a target of entries can have several watches"
                return f"the watches {other} and {watch.name} both write {place}: {why}"
    return ""


class Settings(_Declared):
    """All watches of one service; `public_url` is where people reach its pages, without a slash at its end."""

    public_url: PublicUrl = ""
    watches: Annotated[tuple[Watch, ...], Field(min_length=1)]

    def only(self, name: str) -> Settings:
        """The settings with the watches of one name, those of all its sources. Raises CallError if there is none."""
        names = (name, *(source_name(name, watch.source) for watch in self.watches))
        found = tuple(watch for watch in self.watches if watch.name in names)
        if not found:
            known = ", ".join(watch.name for watch in self.watches)
            raise CallError(f"there is no watch {name!r}; the settings have {known}")
        return Settings(watches=found)


def load_settings(path: Path) -> Settings:
    """Read a settings file. Raises CallError if there is none, MalformedDeclaration where it is refused."""
    try:
        text = read_toml(path)
    except FileNotFoundError:
        raise CallError(f"{path}: there is no such file; leaderboard-bot init writes one") from None
    except OSError as error:
        raise CallError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise MalformedDeclaration(str(path), [("", "is not UTF-8 text")]) from None
    return parse_settings(text, str(path))


def parse_settings(text: str, path: str) -> Settings:
    """Check the text of a settings file; `path` names it in errors. Raises MalformedDeclaration with every fault."""
    declared = parse_toml(text, path, DeclaredSettings)
    watches = tuple(watch for one in declared.watches for watch in one.watches())
    return Settings(public_url=declared.public_url, watches=watches)


# A list of sources, or a pattern of an organization's datasets, becomes one watch for each source, with its own name,
# index and conversations: a fault of one stops no other. All else they share, and rows of one model from two sources
# compete as any two submissions do.
PATTERN = re.compile(r"hf://datasets/([\w.-]+)/([\w.*-]*\*[\w.*-]*)")
MOST_DATASETS = 1_000  # datasets that one pattern may name
Datasets = Callable[[str], Iterable[str]]


def open_settings(path: Path, access: Access) -> Settings:
    """The settings of a file, with a watch for each dataset that a pattern names now.

    Raises what reading the file raises, Unavailable and Refused where the Hub does not list an organization's datasets.
    """
    return with_patterns(load_settings(path), lambda organization: _datasets_of(organization, access))


def has_patterns(settings: Settings) -> bool:
    """Tell whether a source is a pattern, so that new datasets may match without a change of the file."""
    return any("*" in watch.source for watch in settings.watches)


def with_patterns(settings: Settings, datasets: Datasets) -> Settings:
    """The settings with a watch for each dataset that a pattern names.

    Raises CallError if that is none, or if several would overwrite what the others write.
    """
    found = [one for watch in settings.watches for one in _watches_of(watch, cache(lambda org: tuple(datasets(org))))]
    if why := why_they_fight(found):
        raise CallError(why)
    return Settings(public_url=settings.public_url, watches=tuple(found))


def _watches_of(watch: Watch, datasets: Datasets) -> list[Watch]:
    if "*" not in watch.source:
        return [watch]
    match = PATTERN.fullmatch(watch.source)
    if match is None:
        raise CallError(f"{watch.source}: a pattern names datasets of one organization: hf://datasets/acme/*-results")
    organization, pattern = match.groups()
    names = sorted(name for name in datasets(organization) if fnmatch.fnmatchcase(name.partition("/")[2], pattern))
    if not names:
        raise CallError(f"{watch.source}: {organization} has no dataset with a matching name that this token may see")
    if len(names) > MOST_DATASETS:
        raise CallError(f"{watch.source}: names {len(names):,} datasets; more than {MOST_DATASETS:,} are not watched")
    return [watch.of_source(f"hf://datasets/{name}") for name in names]


def _datasets_of(organization: str, access: Access) -> Iterable[str]:
    from bot.platforms.hub.platform import HubPlatform
    from bot.platforms.platform import Opener

    client = HubPlatform.client(Opener(access))
    return client.get_pages("/api/datasets", lambda row: str(row["id"]), author=organization, limit=MOST_DATASETS)
