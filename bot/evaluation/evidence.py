"""What the numbers of a row rest on, in one word: `quoted`, `file`, `samples`, `rescored` or `remeasured`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

# What the evidence of a row itself can show; only another run of some of its questions shows more.
RowWord = Literal["quoted", "file", "samples", "rescored"]
EvidenceWord = Literal["quoted", "file", "samples", "rescored", "remeasured"]
EVIDENCE_WORDS: tuple[EvidenceWord, ...] = get_args(EvidenceWord)  # from the weakest to the strongest
STRENGTH: Mapping[EvidenceWord, int] = {word: place for place, word in enumerate(EVIDENCE_WORDS)}
SHOWS: Mapping[EvidenceWord, str] = {
    "quoted": "the numbers stand in a table or a paper; there is no file of a run",
    "file": "the numbers are those of a result file",
    "samples": "the numbers are the means of logged samples",
    "rescored": "the numbers follow from the logged answers, which were scored again",
    "remeasured": "the numbers agree with another run of a random part of the questions",
}
DOES_NOT_SHOW: Mapping[EvidenceWord, str] = {
    "quoted": "anything",
    "file": "that a run wrote the file",
    "samples": "that the scores of the samples follow from the answers",
    "rescored": "that the model gave these answers",
    "remeasured": "differences too small for the number of questions",
}
