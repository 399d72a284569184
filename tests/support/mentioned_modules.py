"""Which modules of the repository a file mentions: what it imports, also in a text for another interpreter."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cache
from pathlib import Path

from kernel_scientist.own_packages import NAMES

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("kernel_scientist", *NAMES)
MODULE = re.compile(rf"\b(?:{'|'.join((*PACKAGES, 'benchmarks', 'tests'))})(?:\.\w+)+")
FROM = re.compile(r"from ((?:\w+\.)*\w+) import (\([^)]*\)|[^\n]*)")


@cache
def mentioned(path: str) -> frozenset[str]:
    """The modules that a file imports, also in a text that it hands to another interpreter."""
    text = (ROOT / path).read_text(encoding="utf-8")
    names = set(MODULE.findall(text))
    for package, imported in FROM.findall(text):
        names |= {f"{package}.{name}" for name in re.findall(r"\w+", imported)}
    paths = (name.replace(".", "/") + ".py" for name in names)
    return frozenset(p for p in paths if (ROOT / p).is_file())


def reached(path: str, within: str = "", without: Set[str] = frozenset()) -> set[str]:
    """All modules that come with a file, by way of those that begin with `within`; none of `without`."""
    seen, waiting = set[str](), [path]
    while waiting:
        new = mentioned(waiting.pop()) - seen - without
        seen |= new
        waiting += [module for module in new if module.startswith(within)]
    return seen
