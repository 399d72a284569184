"""Public kernels by repository, commit and path: the list, and what a row becomes once its repository is at hand.

`rows/NAME.toml` is a repository's part of the list. A row gives the file, our launch plan, our task (`tasks/`, or one
that is shipped) and, for some, a fault: a regular expression and what stands for its first match. Nothing of others is
kept here; `sources.py` finds a repository in a folder of clones, or fetches it.

A candidate is the plan, then the file as it stands, with the repository's own headers in the place of their includes.
Where a build or a wrapper gives names to the compiler, `before` does (a macro of the command line, a header), where it
links device code of other files, `also` names them, and where a library has headers alone, `after` is our kernel. Of
a Python file, as competitions ask for, the texts that hold a kernel are the candidate; a file for Triton is one itself.
"""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any

from sandbox.candidate.host_headers import is_host_library
from sandbox.candidate.parse import normalise
from tests.kernels.real.sources import Mirror

FOLDER = Path(__file__).parent
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">][^\n]*', re.M)
_PRAGMA_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.M)
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|endif)", re.M)
_GUARD = re.compile(r"[ \t]*#[ \t]*ifndef[ \t]+(\w+)\s*\n[ \t]*#[ \t]*define[ \t]+\1\b")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Fault:
    """A change that makes a kernel wrong, and a pattern of the line that the finding must name."""

    old: str
    new: str
    line: str = ""  # the changed line itself where there is none
    slack: int = 0  # lines below that may be named as well


@dataclass(frozen=True)
class Row:
    """One kernel of the list."""

    name: str
    repository: str
    commit: str
    licence: str
    path: str
    task: str
    plan: str
    before: str = ""
    after: str = ""  # a kernel of ours, behind the header that it uses
    folders: tuple[str, ...] = ()  # where the build looks for headers, besides the file's own folder
    also: tuple[str, ...] = ()  # files that the build links, with device code that the kernel calls
    fault: Fault | None = None
    language: str = "hip"
    refused: str = ""  # why the lab does not accept it, in one sentence

    @property
    def head(self) -> str:
        """The comment with the plan, as the language has it."""
        plan = f"/*+++\n{self.plan.strip()}\n+++*/"
        return f'"""{plan}"""' if self.language == "triton" else plan


@dataclass(frozen=True)
class RealKernel:
    """A row with the text of its candidate, right or with its fault."""

    row: Row
    text: str

    def with_fault(self) -> tuple[str, frozenset[int]]:
        """The text with the row's fault, and the lines of which a finding must name one."""
        fault = self.row.fault
        assert fault is not None, f"{self.row.name} has no fault"
        match = re.search(fault.old, self.text)
        assert match is not None, f"{self.row.name}: its file no longer has {fault.old!r}"
        text = self.text[: match.start()] + match.expand(fault.new) + self.text[match.end() :]
        if not fault.line:
            changed = text.count("\n", 0, match.start() + len(match.expand(fault.new))) + 1
            return text, frozenset(range(changed, changed + fault.slack + 1))
        named = [n for n, line in enumerate(text.split("\n"), 1) if re.search(fault.line, line)]
        assert named, f"{self.row.name}: no line of its file has {fault.line!r}"
        return text, frozenset(named)


def rows() -> tuple[Row, ...]:
    """The whole list."""
    return tuple(row for path in sorted((FOLDER / "rows").glob("*.toml")) for row in _read(path))


def task_folder(row: Row) -> str | Path:
    """The name of a shipped task, or the folder of one of ours."""
    own = FOLDER / "tasks" / row.task
    return own if own.is_dir() else row.task


def assemble(row: Row, mirror: Mirror) -> RealKernel | None:
    """The candidate of a row; None where its repository is not at hand."""
    if not mirror.has(row.repository, row.commit):
        return None
    before = f"{row.before.strip()}\n" if row.before else ""
    seen: set[str] = set()
    body = "\n".join(_with_includes(row, mirror, path, seen) for path in (*row.also, row.path))
    after = f"\n{row.after.strip()}\n" if row.after else ""
    return RealKernel(row, normalise(f"{row.head}\n{before}{body}{after}"))


def _with_includes(row: Row, mirror: Mirror, path: str, seen: set[str]) -> str:
    """The file with its own headers in their places, each once, and again where a condition included it."""
    seen.add(path)
    text = mirror.text(row.repository, row.commit, path)
    assert text is not None, f"{row.repository} has no {path} at {row.commit[:12]}"
    if row.language == "triton":
        return text
    text = _device_texts(text) if path.endswith(".py") else text
    conditions = list(_CONDITION.finditer(text))
    guards = 1 if conditions and _GUARD.match(text, conditions[0].start()) else 0

    def header(match: re.Match[str]) -> str:
        if is_host_library(match[1]):
            return match[0]
        above = sum(1 if c[1] == "if" else -1 for c in conditions if c.start() < match.start())
        known = set(seen) if above > guards else seen
        for folder in (str(PurePosixPath(path).parent), *row.folders):
            found = normpath(f"{folder}/{match[1]}")
            if found in known:
                return ""
            if (own := mirror.text(row.repository, row.commit, found)) is not None:
                return _once(own, found, _with_includes(row, mirror, found, known))
        return match[0]

    return _INCLUDE.sub(header, text)


def _device_texts(program: str) -> str:
    """The strings of a Python file in which a kernel is defined, one after the other."""
    strings = (node.value for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Constant))
    return "\n".join(text for text in strings if isinstance(text, str) and "__global__" in text)


def _once(own: str, path: str, text: str) -> str:
    """The header's text under a condition where it says that it is read once, which a text in its place cannot."""
    if not _PRAGMA_ONCE.search(own):
        return text
    guard = "READ_" + re.sub(r"\W", "_", path)
    return f"#ifndef {guard}\n#define {guard}\n{text}\n#endif"


def _read(path: Path) -> list[Row]:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    common = {key: value for key, value in table.items() if key != "kernel"}
    assert _COMMIT.fullmatch(common["commit"]), f"{path.name}: a commit has 40 digits"
    found = []
    for row in table["kernel"]:
        fault = Fault(**row.pop("fault")) if "fault" in row else None
        lists = {key: tuple(row.pop(key, ())) for key in ("folders", "also")}
        values: dict[str, Any] = {**common, **row, **lists}
        found.append(Row(**values, fault=fault))
    return found
