"""Which model a result is about: by its own words, by a mapping of names or folders, or as a service calls it.

A mapping has Hub ids by what a file calls a model, or by a pattern of the folders that its file lies in. The pattern
ends in a slash, or in a pattern of the file's name. Each `*` in it stands for a part of one folder's name, which `{1}`,
`{2}` … repeat in the value: `runs/*/step-*/` gives `acme/atlas@{2}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import count

from msgspec.structs import replace

from bot.evaluation.finding import shown
from bot.evaluation.formats.fields import arguments
from bot.evaluation.formats.format import is_loaded
from bot.evaluation.formats.sameness import PATHS, is_path
from bot.evaluation.leaderboard import Leaderboard
from bot.evaluation.result import Model, Result
from bot.evaluation.submission import Parsed, iso_date, own_date

LONGEST_HUB_ID = 96  # characters of an id on the Hub
HUB_ID = re.compile(rf"(?=.{{1,{LONGEST_HUB_ID}}}\Z)(?:[A-Za-z0-9](?:[\w.-]*\w)?/)?[A-Za-z0-9](?:[\w.-]*\w)?", re.ASCII)
# The models of the Hub that were named without an organization. New ones have one: huggingface/transformers, #28795.
WITHOUT_ORGANIZATION = frozenset("""
albert-base-v1 albert-base-v2 albert-large-v1 albert-large-v2 albert-xlarge-v1 albert-xlarge-v2 albert-xxlarge-v1
albert-xxlarge-v2 bert-base-cased bert-base-cased-finetuned-mrpc bert-base-chinese bert-base-german-cased
bert-base-german-dbmdz-cased bert-base-german-dbmdz-uncased bert-base-multilingual-cased
bert-base-multilingual-uncased bert-base-uncased bert-large-cased bert-large-cased-whole-word-masking
bert-large-cased-whole-word-masking-finetuned-squad bert-large-uncased bert-large-uncased-whole-word-masking
bert-large-uncased-whole-word-masking-finetuned-squad camembert-base ctrl distilbert-base-cased
distilbert-base-cased-distilled-squad distilbert-base-german-cased distilbert-base-multilingual-cased
distilbert-base-uncased distilbert-base-uncased-distilled-squad distilbert-base-uncased-finetuned-sst-2-english
distilgpt2 distilroberta-base gpt2 gpt2-large gpt2-medium gpt2-xl openai-gpt roberta-base
roberta-base-openai-detector roberta-large roberta-large-mnli roberta-large-openai-detector t5-11b t5-3b t5-base
t5-large t5-small transfo-xl-wt103 xlm-clm-ende-1024 xlm-clm-enfr-1024 xlm-mlm-100-1280 xlm-mlm-17-1280
xlm-mlm-en-2048 xlm-mlm-ende-1024 xlm-mlm-enfr-1024 xlm-mlm-enro-1024 xlm-mlm-tlm-xnli15-1024 xlm-mlm-xnli15-1024
xlm-roberta-base xlm-roberta-large xlm-roberta-large-finetuned-conll02-dutch
xlm-roberta-large-finetuned-conll02-spanish xlm-roberta-large-finetuned-conll03-english
xlm-roberta-large-finetuned-conll03-german xlnet-base-cased xlnet-large-cased
""".split())  # fmt: skip  # noqa: SIM905 - a list would have a line for each
MADE_UP = re.compile(r"[A-Za-z0-9]{8}")
PLACEHOLDER = re.compile(r"\{(\d)\}")
REVISION = re.compile(r"[\w.{}-]{1,80}", re.ASCII)
UNNAMED = "*"
MAIN = ("", "main", "master", "None")
LOCAL = "local"  # what Inspect calls a model that it loads from a path
CHECKPOINT = re.compile(
    r"(?i)(?:.*[._-])?(?:(?:global_?)?steps?|iter(?:ation)?s?|checkpoint|ckpt|epochs?|tokens)[._-]?\*"
)
DAY = 10  # letters of a date
# A folder's name as harnesses write a model's id, and the pattern of several.
OF_ID = re.compile(r"(?!.*__.*__)[A-Za-z0-9][\w.-]*__[A-Za-z0-9][\w.-]*", re.ASCII)
OF_IDS = "*__*"
NUMBERED = re.compile(r"(?=[^A-Za-z\d]*[A-Za-z])(\D++)[\d.]+([kKmMbB]?)")


# Services as LiteLLM writes them before a model's id.
PROVIDERS = frozenset("""
aiml anyscale azure azure_ai baseten bedrock cerebras cloudflare databricks deepinfra featherless_ai fireworks_ai
friendliai github groq hosted_vllm huggingface hyperbolic lambda_ai litellm_proxy lm_studio nebius novita nscale
nvidia_nim ollama ollama_chat openai openrouter perplexity replicate sagemaker sambanova together together_ai vertex_ai
vllm watsonx xinference
""".split())  # fmt: skip  # noqa: SIM905 - a list would have a line for each
# A model as services name their resources: accounts/acme/models/atlas, projects/1/publishers/acme/models/atlas.
RESOURCE = re.compile(r"(?:[^/]+/){0,5}?(?:accounts|publishers)/([^/]+)/models/([^/]+)")
# What may stand there instead of the model's organization: a region, a way to call.
NO_ORGANIZATION = re.compile(r"[a-z]{2}(-[a-z]+)*(-\d)?|global|converse(_like)?|invoke|deployments|chat")
# A service before a colon; behind one may also stand a tag of a model, such as atlas:7b, atlas:latest, acme/atlas:free.
SERVED = re.compile(r"[A-Za-z][A-Za-z_-]*:(?=\S*[\d-])([A-Za-z]{2}\S*)")
MARKED = re.compile(r"[\w.-]+/[\w.-]+[@:= (][^/]*")  # acme/atlas:free, acme/atlas@reasoning=high


def why_unidentified(model: Model) -> str:
    """Why a model's name is not that of a model on the Hub, "" if it is."""
    if not model.id:
        return "the file names no model"
    is_whole = ("/" in model.id and not is_path(model.id)) or model.id in WITHOUT_ORGANIZATION or model.is_mapped
    if model.is_plain or (is_hub_id(model.id) and is_whole):
        return ""
    if model.id == LOCAL:
        return f"the model was loaded from a path ({shown(model.args) or 'not recorded'}) and is called {LOCAL}"
    if (is_path(model.id) or model.id.count("/") > 1) and not is_served(model):
        return f"the model is named by a path, {shown(model.id)}, not by its id on the Hub"
    if is_served(model):
        return f"{shown(model.id)} is what {shown(model.source)} calls a model, not a model id of the Hub"
    long = f": it has more than {LONGEST_HUB_ID} characters" if len(model.id) > LONGEST_HUB_ID else ""
    return f"{shown(model.id)} is not a model id of the Hub{long}"


def is_plain_name(model: Model) -> bool:
    """Tell whether a board may take what a file calls its model as its id.

    It has no organization, or behind the model a mark that no id of the Hub has, such as a tag or a setting.
    """
    is_short = "/" not in model.id or MARKED.fullmatch(model.id) is not None
    is_name = bool(model.id) and is_short and model.id.isprintable() and model.id != LOCAL
    is_made_up = MADE_UP.fullmatch(model.id) is not None and bool(model.source) and is_loaded(model.source)
    return is_name and not is_made_up and not model.id.startswith(PATHS) and len(model.id) <= LONGEST_HUB_ID


def is_served(model: Model) -> bool:
    """Tell whether a service answered, and the file has its name and the model's."""
    is_called = bool(model.id) and not model.id.startswith(PATHS)
    return is_called and bool(model.source) and not is_loaded(model.source) and " " not in model.source


def has_nickname(model: Model) -> bool:
    """Tell whether files call a model by a name of its own: no id, no path, nor eight letters that lm-eval made up."""
    is_name = is_hub_id(model.id) and "/" not in model.id and model.id != LOCAL and not MADE_UP.fullmatch(model.id)
    return is_name and bool(why_unidentified(model)) and not is_served(model)


def without_provider(name: str) -> str:
    """A name such as `openrouter/acme/atlas` or `openai:gpt-4.1` without what serves the model; others as they are."""
    if resource := RESOURCE.fullmatch(name):
        return f"{resource[1]}/{resource[2]}"
    if served := SERVED.fullmatch(name):
        return served[1]
    provider, _, model = name.partition("/")
    organization, _, last = model.partition("/")
    is_id = bool(last) and "/" not in last and NO_ORGANIZATION.fullmatch(organization) is None
    return model if provider in PROVIDERS and is_id else name


def is_hub_id(name: str) -> bool:
    """Tell whether a text has the form of a repository id of the Hub (huggingface_hub, validate_repo_id)."""
    return HUB_ID.fullmatch(name) is not None and "--" not in name and ".." not in name and not name.endswith(".git")


def why_no_mapping(key: str, value: str) -> str:
    """Why a key and a value map no model, "" if they do."""
    model, _, revision = value.partition("@")
    filled = PLACEHOLDER.sub("x", model)
    if (
        not is_hub_id(filled)
        or not (revision or "@" not in value)
        or (revision and not REVISION.fullmatch(revision))
        or revision in MAIN[1:]
    ):
        return "write org/name, or org/name@revision (40 hex digits or a tag, not main)"
    stars = key.count("*") if is_folders(key) else 0
    if any(not 1 <= int(number) <= stars for number in PLACEHOLDER.findall(value)):
        return f"a number in braces repeats one of the {stars} * of the folders"
    return ""


def is_folders(key: str) -> bool:
    """Tell whether a key of a mapping is a pattern of folders, or of folders and the name of a file in them."""
    return key.endswith("/") or ("*" in key and key != UNNAMED)


def fits(folders: str, path: str) -> bool:
    """Tell whether a pattern of folders matches a path."""
    return _matched(folders, path) is not None


def identified(parsed: Parsed, names: Mapping[str, str], board: Leaderboard | None = None) -> Parsed:
    """The submission with its model as the caller's `names`, then the declaration's `[models]` have it.

    What a service writes around `org/name` is no part of the id. A model that the file records no precision of has the
    board's, unless a service answered. A branch or tag that was asked for tells checkpoints apart where no commit is
    recorded.
    On a board with `served_models` a model that only a service has is called by the service and its name there, and its
    revision is the day of the measurement; on one that takes plain names, one is an id, see `is_plain_name`.
    """
    found = with_names(with_names(parsed, names), board.model_names if board is not None else {})
    if found.result is None:
        return found
    model = found.result.model
    if not is_served(model) and (without := without_provider(model.id)) != model.id:
        model = replace(model, id=without)
    if not model.revision and model.requested_revision not in MAIN:
        model = replace(model, revision=model.requested_revision)
    if board is not None and board.precision and not model.precision and not is_served(model):
        model = replace(model, precision=board.precision)
    if board is not None and board.takes_plain_names and is_plain_name(model):
        model = replace(model, is_plain=True)
    elif board is not None and board.served_models and is_served(model) and name_for(parsed, names) is None:
        is_known = model.id.startswith(f"{model.source}/") or (is_hub_id(model.id) and "/" in model.id)
        day = iso_date(own_date(found.result, parsed.path))[:DAY]
        name = model.id if is_known else f"{model.source}/{model.id}"
        model = replace(model, id=name, revision=model.revision or day)
    return found if model is found.result.model else replace(found, result=replace(found.result, model=model))


def with_names(parsed: Parsed, names: Mapping[str, str]) -> Parsed:
    """The submission with the model's id that a mapping gives for its folder or for what the file calls it.

    A value is a Hub id, or `id@revision`, whose revision counts where the file records none. The key `*` stands for
    every model without a name on the Hub. A model that is called `local` has its path among its arguments: the path
    names it before that word does, which every such model shares.
    """
    found = name_for(parsed, names)
    if found is None or parsed.result is None:
        return parsed
    model = parsed.result.model
    parts = dict(enumerate((_matched(found, parsed.path) if is_folders(found) else None) or (), 1))
    filled = PLACEHOLDER.sub(lambda match: parts.get(int(match[1]), match[0]), names[found])
    name, _, revision = filled.partition("@")
    named = replace(model, id=name, revision=model.revision or revision, is_mapped=True)
    return replace(parsed, result=replace(parsed.result, model=named))


def name_for(parsed: Parsed, names: Mapping[str, str]) -> str | None:
    """The key of the mapping that names the model of a submission, None if it has none for it."""
    if parsed.result is None or not names:
        return None
    model = parsed.result.model
    path = arguments(model.args)[0].get("model_path", "") if model.id == LOCAL else ""
    called = (path, model.id, model.id.rstrip("/"))
    found = next((key for key in called if names.get(key)), None)
    folders = next((key for key in names if is_folders(key) and _matched(key, parsed.path) is not None), None)
    found = folders if found is None else found
    return UNNAMED if found is None and UNNAMED in names and why_unidentified(model) else found


def _matched(key: str, path: str) -> tuple[str, ...] | None:
    """The texts that the stars match at the last place where these folders follow one another; None if nowhere."""
    found = _pattern(key).fullmatch(path)
    return found.groups() if found is not None and path.isprintable() else None


@lru_cache(maxsize=256)
def _pattern(key: str) -> re.Pattern[str]:
    *parts, last = map(re.escape, key.split("*"))
    first, *rest = *parts, last + (".*" if key.endswith("/") else r"\Z")
    # A star is the shortest text that fits, tried once: the mapping of an entry may be a stranger's.
    return re.compile(f"(?:.*/)?{first}" + "".join(f"(?>([^/]+?){part})" for part in rest))


def folders_that_differ(paths: Iterable[str]) -> str:
    """The pattern of the folders that tell files apart, each path matched by it; "" if they lie in one folder.

    Numbered folders, such as `step-100` and `step-200`, become `step-*`.
    """
    folders = [path.split("/")[:-1] for path in paths]
    depth = min(map(len, folders), default=0)
    differ = [place for place in range(depth) if len({one[place] for one in folders}) > 1]
    if not differ:
        return ""
    first, last = differ[0], differ[-1]
    words = [_glob([one[place] for one in folders]) for place in range(max(0, first - 1), last + 1)]
    return "/".join(words) + "/"


def _glob(names: Sequence[str]) -> str:
    """A folder's name with a star where several names differ; of numbered ones the word before the number stays."""
    if len(set(names)) == 1:
        return names[0] if names[0].isprintable() and "*" not in names[0] else "*"
    numbered = [NUMBERED.fullmatch(name) for name in names]
    words = {found.groups() for found in numbered if found is not None}
    pattern = "*".join(next(iter(words))) if len(words) == 1 and None not in numbered else "*"
    return OF_IDS if all(map(OF_ID.fullmatch, names)) and not is_checkpoint(pattern) else pattern


def mapping_for(pattern: str, model_id: str) -> str:
    """A `--model-name` for a pattern of folders: the last star is a checkpoint's revision, else a model's name."""
    numbers = count(1)
    words = [word for word in pattern.split("/") if "*" in word]
    *above, last = [re.sub(r"\*", lambda _: f"{{{next(numbers)}}}", word) for word in words]
    if not model_id and words[-1] == OF_IDS:
        return f"{pattern}={last.replace('__', '/')}"
    if not model_id and not is_checkpoint(words[-1]):
        return f"{pattern}=ORG/{last}"
    name = above[-1] if above else "NAME"
    return f"{pattern}={model_id or f'ORG/{name}'}@{last}"


def proposed_names(results: Mapping[str, Result]) -> list[str]:
    """A `--model-name` by folders for files that name no model, and for each model whose files lie as checkpoints do.

    One pattern for all of their files, by one level of folders or by models with checkpoints below; none where it also
    has files of other models, or where its folders may be those of tasks.
    """
    named: dict[str, list[str]] = {}
    for path, one in results.items():
        is_nameless = bool(why_unidentified(one.model)) and not is_served(one.model)
        if is_nameless or not one.model.revision:
            named.setdefault("" if is_nameless else one.model.id, []).append(path)
    found = []
    for model_id, paths in named.items():
        pattern = folders_that_differ(paths)
        *above, last = [word for word in pattern.split("/") if "*" in word] or [""]
        is_told = is_checkpoint(last) or (not (model_id or above) and _are_of_models(paths, results))
        if is_told and len(above) < 2 and not any(fits(pattern, path) for path in results.keys() - set(paths)):
            found.append(mapping_for(pattern, model_id))
    return found


def _are_of_models(paths: Iterable[str], results: Mapping[str, Result]) -> bool:
    """Tell whether the files of each folder call their model by one name, and those of several have a leaf in common.

    Folders of tasks have several names or no common leaf, and neither have `zero-shot` and `five-shot` of one model.
    """
    files = [(path.rpartition("/")[0], results[path]) for path in paths]
    names = {(folder, one.model.id.rstrip("/")) for folder, one in files}
    leaves = {(key, leaf.num_fewshot, folder) for folder, one in files for key, leaf in one.leaves.items()}
    has_common_leaf = len({(key, shots) for key, shots, _ in leaves}) < len(leaves)
    return has_common_leaf and len(names) == len({folder for folder, _ in files})


def is_checkpoint(pattern: str) -> bool:
    """Tell whether a pattern has folders that are numbered like checkpoints."""
    return any(map(CHECKPOINT.fullmatch, pattern.split("/")))
