"""What lm-evaluation-harness records of how a run was made and what keeps no files apart: batches, libraries, machine.

A comparison names these where no setting explains a difference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bot.evaluation.formats.fields import items, setting, text

LONGEST_REPORT = 20_000  # characters of what PyTorch prints of the machine
TORCH = re.compile(r"^PyTorch version: *(\S+)", re.MULTILINE)
LIBRARY = re.compile(r"^\[(?:pip3|conda)\] +(vllm|accelerate|bitsandbytes|flash[-_]attn)(?:==| +)(\S+)", re.MULTILINE)
GPU = re.compile(r"^(?:GPU models and configuration: *)?GPU \d+:(.+)$", re.MULTILINE)


def conditions_of(top: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, str]:
    """The conditions by their names for people, as texts; what is not recorded is absent."""
    report = text(top.get("pretty_env_info"))[:LONGEST_REPORT]
    detected = ", ".join(dict.fromkeys(map(setting, items(config.get("batch_sizes")))))
    size = setting(config.get("batch_size"))
    found = {
        "batch size": f"{size} ({detected})" if size.startswith("auto") and detected else size,
        "device": setting(config.get("device")),
        "transformers": setting(top.get("transformers_version")),
        "PyTorch": match[1] if (match := TORCH.search(report)) else "",
        **dict(LIBRARY.findall(report)),
        "GPU": ", ".join(dict.fromkeys(filter(None, map(str.strip, GPU.findall(report))))),
    }
    return {name: value for name, value in found.items() if value}
