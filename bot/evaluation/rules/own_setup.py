"""The run used special settings, such as a system prompt.

## What it does
Names a system prompt, a server in place of loaded weights, generation settings of the call, and another seed of the
examples.

## Why is this bad?
A prompt can hold answers, a server any weights, and a seed can be chosen.

## When it is wrong
The board wants it so: nothing is to be done.

## Example
/config/fewshot_seed: 777

## A sound run writes
/config/fewshot_seed: 1234
"""

from __future__ import annotations

from bot.evaluation.finding import Severity, shown
from bot.evaluation.formats.fields import arguments
from bot.evaluation.formats.sameness import has_examples
from bot.evaluation.identity import is_served
from bot.evaluation.rules.rule import Case, Violation, Violations, rule

PROMPTS = ("system_instruction", "system_prompt", "system_message")
SEED = "fewshot_seed"
SERVER = "base_url"
GENERATION = "gen_kwargs"
HINT = "nothing needs to be done where the board's rows have this in common"
LONGEST = 60  # characters of a prompt or an address that are shown


@rule(Severity.NOTICE)
def own_setup(case: Case) -> Violations:
    """Yield one violation for each part of the set-up."""
    result = case.result
    prompt = next((result.settings[name] for name in PROMPTS if result.settings.get(name)), "")
    if prompt:
        yield Violation(f"a system prompt stands before each question: {shown(prompt, LONGEST)}", HINT)
    if has_examples(result) and (seed := result.settings.get(SEED)):
        yield Violation(
            f"the few-shot examples were picked by the seed {shown(seed, LONGEST)}, not the harness's", HINT
        )
    given = result.settings.get(GENERATION, "")
    if given and not any(leaf.definition for leaf in result.leaves.values()):
        said = f"the call set how answers are generated: {shown(given, LONGEST)}"
        yield Violation(said, HINT)
    if SERVER in result.model.args and is_served(result.model) and "/" in result.model.id:
        server, model = arguments(result.model.args)[0].get(SERVER, ""), shown(result.model.id)
        said = f"a server answered, {shown(server, LONGEST)}: nothing shows that it has the weights of {model}"
        yield Violation(said, HINT, result.pointer_to("arguments"))
