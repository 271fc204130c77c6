"""Settings: every key is documented, every mistake is named by its path."""

from __future__ import annotations

import tomllib
from contextlib import closing
from pathlib import Path

import pytest

from bot.errors import CallError, MalformedDeclaration
from bot.platforms.platform import Access
from bot.service.context import ContextFactory
from bot.service.settings.config import Settings, Watch, WatchTarget, load_settings, parse_settings, with_patterns
from bot.service.store.engine import connect
from bot.service.store.state import Store

EXAMPLE = Path(__file__).parents[2] / "bot.example.toml"
LEAST = """
[[watches]]
name = "w"
leaderboard = "open-llm-v2"
source = "hf://datasets/acme/results"
[[watches.targets]]
to = "board"
"""
TARGET = "[[watches.targets]]\n"
TABLE = """to = "board"
kind = "table"
[watches.targets.table]
key = ["Model"]
columns = { Model = "model.id" }
"""
MODELS = """to = "hf://models"
[watches.targets.models]
organizations = ["acme"]
"""


def test_the_example_is_taken_and_documents_every_key() -> None:
    settings = load_settings(EXAMPLE)
    watch = tomllib.loads(EXAMPLE.read_text())["watches"][0]
    targets = {key for target in watch["targets"] for key in target}

    assert set(watch) == set(Watch.model_fields)
    assert targets == {field.alias or name for name, field in WatchTarget.model_fields.items()}
    assert settings.watches[0].settle_every == 900


def test_the_shortest_settings_have_the_defaults_of_the_design() -> None:
    [watch] = parse_settings(LEAST, "bot.toml").watches

    assert (watch.paths, watch.settle_every, watch.pull_requests) == (("**/*.json", "**/*.eval"), 900, "entry")
    assert watch.targets[0].form == "pull-request"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("name =", "nmae ="), r"bot.toml: watches.0.name: is missing"),
        (('to = "board"', 'to = "board"\nass = "commit"'), r"watches.0.targets.0.ass: is not a known key"),
        (('to = "board"', 'to = "board"\nas = "email"'), r"watches.0.targets.0.as: write 'pull-request', 'commit' or"),
        (('to = "board"', 'to = "board"\ndiscussion = 4'), r"targets.0: discussion needs as"),
        (('name = "w"', 'name = "w"\nsettle_every = "soon"'), r"watches.0.settle_every: write a length of time"),
        (('name = "w"', 'name = "w"\nsettle_every = "0s"'), r"watches.0.settle_every: write a length of time"),
        (
            ('name = "w"', 'name = "w"\nsettle_every = "366d"'),
            r"watches.0.settle_every: write a length of time .*, at most \"365d\"",
        ),
        (('name = "w"', 'name = "w"\nbackfill_limit = 0'), r"watches.0.backfill_limit: write a number greater than 0"),
        (('name = "w"', 'name = "w"\nbackfill_limit = 1.5'), r"watches.0.backfill_limit: write a whole number"),
        (('name = "w"', 'name = "w"\npaths = ["!acme/**"]'), "watches.0: paths: name files, such as"),
        (('name = "w"', 'name = "w"\npaths = "*.json"'), r"watches.0.paths: write a list: values in \[ \]"),
        (('name = "w"', 'name = "w"\nowners = []'), r"watches.0.owners: write a table"),
        (('name = "w"', 'name = "a b"'), r"watches.0.name: write letters, digits and _ . - without spaces"),
        (('name = "w"', 'name = "w"\ncomments = "often"'), r"watches.0.comments: write true or false"),
        (('name = "w"', 'name = "w"\ncomments = "yes"'), r"watches.0.comments: write true or false"),
        (('name = "w"', 'name = "w"\nlook_up_heads = 1'), r"watches.0.look_up_heads: write true or false"),
        (('name = "w"', 'name = "w"\nbackfill_limit = "20"'), r"watches.0.backfill_limit: write a whole number"),
        (('name = "w"', 'name = "w"\nmax_file_bytes = true'), r"watches.0.max_file_bytes: write a whole number"),
        (('name = "w"', 'name = "w"\npaths = [" *.json"]'), r"watches.0.paths.0: write it without blanks around it"),
        (
            ('name = "w"', 'name = "w"\nsite = "hf://spaces/acme/x "'),
            r"watches.0.site: write it without blanks around it",
        ),
        (('name = "w"', 'name = "w"\nmaintainers = ["@Writers"]'), r"maintainers.0: write the name of an account"),
        (
            ('to = "board"', 'to = "https://ann:hf_x@example.org/a"'),
            r"targets.0.to: an address holds no user and password",
        ),
        (('to = "board"', 'to = "hf://models "'), r"targets.0.to: write it without blanks around it"),
        (('to = "board"', 'to = "board"\nas = "comment"\ndiscussion = true'), r"discussion: write a whole number"),
        (('to = "board"', MODELS + 'limit = "5"'), r"targets.0.models.limit: write a whole number"),
        (('to = "board"', MODELS + "limit = 1001"), r"targets.0.models.limit: write a number of at most 1000"),
        (('to = "board"', TABLE + 'path = "x.csv"\nrecords = "on"'), r"table.records: write true or false"),
        (
            ('to = "board"', TABLE.replace('"model.id"', '{ value = "average", decimals = true }') + 'path = "x.csv"'),
            r"table.columns.Model.decimals: write a whole number",
        ),
        (('to = "board"', f'{TABLE}path = "x.csv"\npaht = "y"'), r"watches.0.targets.0.table.paht: is not a known key"),
        (('to = "board"', f'{TABLE}path = "x.doc"'), r"watches.0.targets.0.table: format: x.doc does not say"),
        (('to = "board"', f'{TABLE}at = "a"'), r"watches.0.targets.0.table.path: is missing"),
        (('to = "board"', 'to = "board"\nkind = "table"'), r"watches.0.targets.0: kind = \"table\" and"),
        (('to = "board"', 'as = "comment"\n' + TABLE + 'path = "x.csv"'), r"targets.0: a table needs as"),
        (
            ('to = "board"', 'to = "board"\n[[watches.targets]]\n' + TABLE + 'path = "x.csv"'),
            r"watches.0: board is a target of kind = \"table\": the watch names it once",
        ),
        (
            ('to = "board"', f'to = "board"\nas = "commit"\n{TARGET}to = "./board/"'),
            "watches.0: the targets board and ./board/ are",
        ),
        (
            ('to = "board"', f'to = "hf://datasets/a/b"\n{TARGET}to = "hf://datasets/A/b"'),
            "watches.0: the targets hf://datasets/a/b and hf://datasets/A/b are the same place: name it once",
        ),
        (('to = "board"', 'to = "hf://models"'), r"targets.0: to = \"hf://models\" and .* which lists organizations"),
        (('to = "board"', MODELS.replace("hf://models", "board")), r"targets.0: to = \"hf://models\" and"),
        (('to = "board"', MODELS.replace("[w", 'as = "commit"\n[w', 1)), r"the pages of models need as"),
        (('to = "board"', MODELS.replace('["acme"]', "[]")), r"targets.0.models.organizations"),
        (('to = "board"', MODELS + "[[watches.targets]]\n" + MODELS), r"hf://models is a target of kind = \"models\""),
        (('name = "w"', 'name = "w"\nmaintainers = ["gitlab:ann"]'), r"maintainers.0: write the name of an account"),
        (("[[watches]]", "token = 1\n[[watches]]"), r"token: is not a known key"),
        (("[[watches]]", "[[watches"), r"is not valid TOML"),
    ],
)
def test_a_mistake_is_named_by_its_path(change: tuple[str, str], said: str) -> None:
    with pytest.raises(MalformedDeclaration, match=said):
        parse_settings(LEAST.replace(*change, 1), "bot.toml")


@pytest.mark.parametrize(
    "path", ["../x.csv", "/x.csv", "a//x.csv", "./x.csv", ".git/x.csv", "a/.GIT/x.csv", "x.csv ", " x.csv"]
)
def test_a_path_that_no_repository_has_is_refused(path: str) -> None:
    with pytest.raises(MalformedDeclaration, match=r"table\.path: write a path inside of the repository"):
        parse_settings(LEAST.replace('to = "board"', f'{TABLE}path = "{path}"'), "bot.toml")
    for sound in (".github/x.csv", "data/train-*.parquet", "a b/..x.csv"):
        assert parse_settings(LEAST.replace('to = "board"', f'{TABLE}path = "{sound}"'), "bot.toml")


BOTH = LEAST.replace('"board"', '"github://acme/board"')


@pytest.mark.parametrize("key", ["maintainers", "former_accounts"])
def test_a_name_at_two_services_says_which(key: str) -> None:
    for names in ('"ann"', '"hf:meg", "ann"'):
        with pytest.raises(MalformedDeclaration, match="where ann may be two people"):
            parse_settings(BOTH.replace('name = "w"', f'name = "w"\n{key} = [{names}]'), "bot.toml")
    assert parse_settings(LEAST.replace('name = "w"', f'name = "w"\n{key} = ["ann"]'), "bot.toml")


def test_a_former_account_of_a_watch_on_the_hub_is_nobody_at_github(tmp_path: Path) -> None:
    at_hub = LEAST.replace('name = "w"', 'name = "w"\nformer_accounts = ["old"]')
    at_github = LEAST.replace('"w"', '"g"').replace("hf://datasets/acme/results", "github://acme/results")
    with closing(Store(connect(f"sqlite:///{tmp_path / 'state.db'}"))) as store:
        contexts = ContextFactory(Access(), store, tmp_path)
        contexts.take(parse_settings(at_hub + at_github.replace('"board"', '"other"'), "bot.toml"))
        assert contexts.opener.service_cache.former_accounts == {"hf": {"old"}, "github": set()}


def test_a_maintainer_with_a_service_is_one_there_only() -> None:
    names = 'maintainers = ["hf:ann", "github:meg"]'
    [watch] = parse_settings(BOTH.replace('name = "w"', f'name = "w"\n{names}'), "bot.toml").watches
    assert watch.maintainers_at("hf://datasets/a/b") == ("ann",)
    assert watch.maintainers_at("github://acme/board") == ("meg",)


def test_a_name_stands_for_one_watch() -> None:
    with pytest.raises(MalformedDeclaration, match="declared twice"):
        parse_settings(LEAST + LEAST, "bot.toml")


@pytest.mark.parametrize(("target", "to"), [(MODELS, "hf://models"), (TABLE + 'path = "x.csv"', "board")])
def test_two_sources_of_one_leaderboard_do_not_share_a_table_or_the_pages_of_models(target: str, to: str) -> None:
    one = LEAST.replace('to = "board"', target)
    source = 'source = "hf://datasets/acme/results"'
    several = one.replace(source, 'source = ["hf://datasets/acme/results", "hf://datasets/acme/more"]')
    for text in (one + one.replace('name = "w"', 'name = "v"'), several):
        with pytest.raises(MalformedDeclaration, match=f"w.* and .* both write rows of open-llm-v2 to {to}: only"):
            parse_settings(text, "bot.toml")
    pattern = parse_settings(one.replace(source, 'source = "hf://datasets/acme/*"'), "bot.toml")
    assert len(with_patterns(pattern, lambda _: ["acme/results"]).watches) == 1
    with pytest.raises(CallError, match=f"both write rows of open-llm-v2 to {to}: only"):
        with_patterns(pattern, lambda _: ["acme/results", "acme/more"])


def test_two_leaderboards_do_not_share_a_column_of_a_table() -> None:
    table = TABLE.replace('"model.id"', '"model.id", b = "average"') + 'path = "x.csv"'
    one = LEAST.replace('to = "board"', table)
    other = one.replace('name = "w"', 'name = "v"').replace("open-llm-v2", "other.toml").replace('"board"', '"./board"')
    with pytest.raises(MalformedDeclaration, match=r"the watches w and v both write b of x\.csv at board: only"):
        parse_settings(one + other, "bot.toml")
    parse_settings(one + other.replace("x.csv", "y.csv"), "bot.toml")


def test_a_watch_that_is_not_there_is_a_wrong_call(tmp_path: Path) -> None:
    settings: Settings = parse_settings(LEAST, "bot.toml")

    assert settings.only("w") == settings
    with pytest.raises(CallError, match="there is no watch 'x'; the settings have w"):
        settings.only("x")
    with pytest.raises(CallError, match="leaderboard-bot init writes one"):
        load_settings(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "url", ["board.example", "https://b.example/", "https://b.example/x)y", "javascript:alert(1)", "https://a b"]
)
def test_an_address_of_the_pages_that_would_break_a_link_is_refused(url: str) -> None:
    text = EXAMPLE.read_text(encoding="utf-8").replace("https://leaderboard.example.org", url)
    with pytest.raises(MalformedDeclaration, match="public_url"):
        parse_settings(text, "bot.toml")
