"""How DROP's scorer reads text: where it splits, and what it compares (lm_eval/tasks/drop/utils.py at 4e7e0d47f)."""

from __future__ import annotations

import re
import string

ARTICLES = re.compile(r"\b(?:a|an|the)\b")
ARTICLE_WORDS = frozenset({"a", "an", "the"})
# The words that float() accepts; any other run of ASCII letters is not a number and has no punctuation.
NUMBER_WORDS = frozenset({"nan", "inf", "infinity"})
DELETE_PUNCTUATION = str.maketrans("", "", string.punctuation)
# The words that occur again and again are some ten thousand; longer tokens are rarely seen twice.
MAX_TOKEN_LENGTH, MAX_CHARACTERS = 32, 1 << 19


def is_number(text: str) -> bool:
    """Tell whether float() accepts it: " 10 ", "1e3", "1_000", "nan", "inf" and digits of any script are numbers."""
    if _is_word(text):
        return text.lower() in NUMBER_WORDS
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_word(text: str) -> bool:
    """Tell whether a text is a run of ASCII letters; asked first, because a failing float() takes ten times as long."""
    return text.isascii() and text.isalpha()


def split_tokens(text: str) -> list[str]:
    """Split at each space and each hyphen, and at no other white space: that is the first flaw of the scorer."""
    return text.replace("-", " ").split(" ")


def count_words(tokens: list[str]) -> int:
    """Return the number of words as the scorer splits them; two spaces in a row have no word between them."""
    return len(tokens) - tokens.count("")


def normalize_token(token: str) -> str:
    """Lower the case; a number becomes str(float), anything else loses its punctuation and articles."""
    text = token.lower()
    if _is_word(text) and text not in NUMBER_WORDS:
        return "" if text in ARTICLE_WORDS else text
    if not is_number(text):
        text = text.translate(DELETE_PUNCTUATION)
    text = str(float(text)) if is_number(text) else ARTICLES.sub(" ", text)
    return " ".join(text.split())


def is_glued(token: str) -> bool:
    r"""Tell whether a token holds white space, and a number among the pieces it separates, such as "10\n\nPassage:".

    The scorer splits at spaces and hyphens alone, so this is one token and no number, and no gold answer with a number
    can match it.
    """
    pieces = token.lower().split()
    return len(pieces) > 1 and any(is_number(piece.translate(DELETE_PUNCTUATION)) for piece in pieces)


class TokenCache(dict[str, str]):
    """The normal form of each token that was seen; bounded, because a stream of generations always brings new ones."""

    def __init__(self) -> None:
        super().__init__()
        self.wide: set[str] = set()
        """The normal forms of several words."""
        self.glued: set[str] = set()
        """The tokens with a glued number."""
        self.characters = 0
        """The length of all tokens that are kept."""

    def __missing__(self, token: str) -> str:
        normal = normalize_token(token)
        if len(token) <= MAX_TOKEN_LENGTH and self.characters < MAX_CHARACTERS:
            self[token] = normal
            self.characters += len(token)
        if " " in normal:
            self.wide.add(normal)
            self.characters += len(token)
        # All white space but the space is unprintable.
        if not token.isprintable() and is_glued(token):
            self.glued.add(token)
            self.characters += len(token)
        return normal

    def forget(self) -> None:
        """Drop everything; to be called between two texts: `wide` and `glued` must know all tokens of a text."""
        self.clear()
        self.wide.clear()
        self.glued.clear()
        self.characters = 0

    def text(self, tokens: list[str]) -> str:
        """Return the normalized text of tokens."""
        return " ".join(filter(None, map(self.__getitem__, tokens)))
