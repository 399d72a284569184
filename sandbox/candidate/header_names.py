"""Names of the device headers, those that they use in source text, and those of the judge."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from sandbox.candidate.pp_tokens import is_directive, rows, scan

INCLUDE = Path(__file__).parents[1] / "include"
LAST = INCLUDE / "host"  # read where no other folder has a header of the name
_PART = re.compile(  # our headers are plain: no raw string, splice or universal character parts a name
    r"""//[^\n]*+|/\*.*?\*/|"(?:\\.|[^"\\\n])*+"|<[\w./]++>|(?P<name>\b[A-Za-z_$][\w$]*+)|'(?:\\.|[^'\\\n])'|[.\d][\w.]*+""",
    re.S,
)

_DEFINED = re.compile(r"^KS_INLINE [^(;={]*?\b(\w+)\(", re.M)


def is_ours(name: str) -> bool:
    """Tell whether a name belongs to the lab or to the judge."""
    return name.startswith(("ks_", "KS_")) and len(name) > 3


_APART = (  # folders that no other header includes
    *("hipcub", "cub", "rocprim", "rocwmma", "torch", "c10", "ATen", "THC", "host", "rocm-core"),
)


@cache
def further_names(order: str) -> Mapping[str, Path]:
    """Map further names of our headers to the file that is read; those that are looked for "first" or "last"."""
    names_by_file = tomllib.loads((INCLUDE / "names.toml").read_text(encoding="utf-8"))[order]
    return {name: INCLUDE / file for file, names in names_by_file.items() for name in names.split()}


def is_header(name: str) -> bool:
    """Tell whether this is the name of one of our headers."""
    is_named = any(name in further_names(order) for order in ("first", "last"))
    return is_named or any((folder / name).is_file() for folder in (INCLUDE, LAST))


@cache
def header_words(folders: tuple[str, ...] = ()) -> frozenset[str]:
    """Every identifier of the device headers, those of these folders included: none may mean another thing in them."""
    files = (path for path in INCLUDE.rglob("*") if path.is_file() and path.suffix != ".toml")
    read = (path for path in files if (top := path.relative_to(INCLUDE).parts[0]) not in _APART or top in folders)
    texts = (path.read_text(encoding="utf-8") for path in read)
    return frozenset(part["name"] for text in texts for part in _PART.finditer(text) if part["name"])


@cache
def words_of(header: str) -> frozenset[str]:
    """Every identifier of one header, by its path in the folder of headers."""
    text = (INCLUDE / header).read_text(encoding="utf-8")
    return frozenset(part["name"] for part in _PART.finditer(text) if part["name"])


@cache
def device_functions() -> frozenset[str]:
    """Collect the functions that every file has without a declaration of its own."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((INCLUDE / "hip").glob("*.h"))]
    listed = re.findall(r"::(\w+)[,;]", (INCLUDE / "cmath").read_text(encoding="utf-8"))
    return frozenset({*listed, *(name for text in texts for name in _DEFINED.findall(text))})


def words_of_included(source: str) -> frozenset[str]:
    """Collect the words of the headers that a source may include; of all of them where a name is no literal one."""
    included = [row[2] for row in rows(scan(source)) if is_directive(row) and len(row) > 2 and "inc" in row[1].text]
    if any(token.kind != "header" for token in included):
        return header_words(_APART)
    folders = {name for name in _APART for token in included if name in token.text}
    further_folders = {"cub": "hipcub", "rocprim": "hipcub", "torch": "c10", "THC": "ATen"}
    return header_words(tuple(sorted(folders | {further_folders[name] for name in folders if name in further_folders})))
