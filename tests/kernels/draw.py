"""Which kernels of a corpus are judged with each change: some of every kind, drawn by the digest of the judge.

Another judge has other ones drawn, so that each kernel has its turn. `test --all` judges all of them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar

from sandbox.judge_digest import judge_digest

Entry = TypeVar("Entry")


def drawn(
    entries: Iterable[Entry], name: Callable[[Entry], str], kinds: Callable[[Entry], Iterable[str]], times: int = 1
) -> list[Entry]:
    """As few as have each kind so many times, or all of a kind where there are fewer."""
    count, chosen = Counter[str](), list[Entry]()
    for entry in sorted(entries, key=lambda entry: _place(name(entry))):
        if any(count[kind] < times for kind in kinds(entry)):
            chosen.append(entry)
            count.update(kinds(entry))
    return chosen


def _place(name: str) -> str:
    return hashlib.sha256(f"{judge_digest()} {name}".encode()).hexdigest()
