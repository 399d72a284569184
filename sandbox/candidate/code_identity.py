"""The identity of a candidate's code: files that differ in the text of their launch plans only are compiled alike.

A finalist is the file in which the best choice of tunables has become the default. Its code with these tunables was
compiled before, when the choice was ranked.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

from sandbox.candidate.pp_tokens import Token, rows, scan

_OPEN, _CLOSE = "/*+++", "+++*/"
_READS = frozenset(  # what could show the code the text of its own file
    {"include", "include_next", "include_alias", "import", "embed", "dependency"}
    | {"__has_include", "__has_include_next", "__has_embed"}
)
_HEADER = ["#", "include", "<hip/hip_runtime.h>"]


@lru_cache(maxsize=64)
def code_id(source: str) -> str:
    """SHA-256 of the normalised source; where the code cannot read its own file, without the text of the plan."""
    plan, code = _parts(source)
    if not plan or "\\" in plan or any(_may_read(row) for row in rows(scan(source))):
        return hashlib.sha256(b"whole\n" + source.encode(errors="surrogatepass")).hexdigest()
    text = "code\n" + "\n" * plan.count("\n") + code
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _parts(source: str) -> tuple[str, str]:
    """Split off the plan's lines without its last one, on which code may stand; no plan where none is read."""
    end = source.find(_CLOSE)
    plan = source[: source.rfind("\n", 0, max(0, end)) + 1]
    if end < 0 or not plan.lstrip().startswith(_OPEN) or "*/" in plan:
        return "", source
    return plan, source[len(plan) :]


def _may_read(row: list[Token]) -> bool:
    return [token.text for token in row] != _HEADER and any(
        token.kind == "name" and token.text in _READS for token in row
    )
