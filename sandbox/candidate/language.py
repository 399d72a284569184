'''The language of a candidate's file. It decides how a listing is made of the file; the plan is the same in each.

| language | the file begins with | behind the plan |
|---|---|---|
| hip | `/*+++` | C++ for HIP |
| assembly | `/*+++` | a directive of the assembler, such as `.amdgcn_target` |
| triton | `"""/*+++`, lines of comment before it | Python with functions for Triton's compiler |
'''

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Language = Literal["hip", "triton", "assembly"]
SOURCE_NAMES: Mapping[Language, str] = {  # of the file while it is compiled, and so in its listing
    "hip": "candidate.hip",
    "triton": "candidate.py",
    "assembly": "candidate.s",
}
SUFFIXES: Mapping[str, Language] = {".py": "triton", ".s": "assembly"}
OPEN, CLOSE = "/*+++", "+++*/"
# Each alternative consumes what it matches, so that no text is read twice.
_PYTHON = re.compile(r"(?:[ \t]*+(?:#[^\n]*+)?+\n)*+r?\"\"\"(?=/\*\+\+\+)")
_ASIDE = re.compile(r"(?:\s++|//[^\n]*+|;[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")


def language_of(source: str) -> Language:
    """Tell the language of a file by its text; HIP where nothing says otherwise."""
    text = source.removeprefix("\ufeff")
    if _PYTHON.match(text):
        return "triton"
    if not text.lstrip().startswith(OPEN):
        return "hip"
    code = text.partition(CLOSE)[2]
    aside = _ASIDE.match(code)
    first = aside.end() if aside else 0
    return "assembly" if re.match(r"\.[a-z_]", code[first : first + 2]) else "hip"


def plan_start(source: str) -> int:
    """Find the offset at which a plan begins, or would have to: behind spaces and what opens a docstring in Python."""
    docstring = _PYTHON.match(source)
    return docstring.end() if docstring else len(source) - len(source.lstrip())
