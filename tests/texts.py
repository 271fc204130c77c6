"""Any text that UTF-8 can have.

The default of `st.text` finds its characters by encoding each there is, seconds of each worker in a clean clone.
"""

from __future__ import annotations

from hypothesis import strategies as st


def any_text(*, min_size: int = 0, max_size: int | None = None) -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_categories=["Cs"]), min_size=min_size, max_size=max_size)
