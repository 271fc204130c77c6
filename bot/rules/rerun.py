"""What would fill a hole: a case and leaf keys in, the exact command line out."""

from __future__ import annotations

from collections.abc import Iterable
from shlex import quote

from bot.finding import shown
from bot.rules.rule import Case


def rerun_command(case: Case, leaf_keys: Iterable[str], num_fewshot: int) -> str:
    """The command that measures these tasks of this model as the leaderboard needs them, safe to paste in a shell."""
    keys = ",".join(dict.fromkeys(leaf_keys))
    model = case.result.model
    args = shown(model.args, 4000) or f"pretrained={shown(model.id) or '<organization>/<name>'}"
    if case.result.format != "lm-eval-0.4":
        return (
            f"python main.py --model {quote(shown(model.source) or 'hf-causal')} --model_args {quote(args)}"
            f" --tasks {quote(_old_keys(keys))} --num_fewshot {num_fewshot}"
        )
    template = " --apply_chat_template --fewshot_as_multiturn" if model.chat_template else ""
    return (
        f"lm_eval --model {quote(shown(model.source) or 'hf')} --model_args {quote(args)} --tasks {quote(keys)}"
        f" --num_fewshot {num_fewshot}{template} --batch_size auto --output_path results --log_samples"
    )


def _old_keys(keys: str) -> str:
    """Spell v1's task names as harness 0.3 does on its command line."""
    return keys.replace("arc:challenge", "arc_challenge").replace("truthfulqa:mc", "truthfulqa_mc")
