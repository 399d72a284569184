"""The launch plan in a candidate's first comment, read from its text.

/*+++
nondeterministic = true              # optional: the order of atomics may change the last bits
requires = "cols % 4 == 0"           # optional: an arm of a table, right where this holds
[[launch]]
kernel = "name"                      # see launch_reader.py for all that a launch may have
grid   = ["ceil_div(rows, ROWS)"]    # one to three expressions over dims and tunables
block  = [256]
lds    = 0                           # optional: dynamic LDS bytes
args   = ["x", "y", "rows:i64"]      # inputs, outputs, workspaces, dims, scalars, tunables, expressions
[workspace]
partial = ["f32", "rows"]            # dtype, then the shape
[tunables]
ROWS = [4, 1, 2]                     # the first value is the default
[constraints]
fits = "ROWS * cols <= 16384"
+++*/
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sized
from reprlib import repr as shown
from typing import Any

from records.errors import PlanError
from records.toml_process import toml_process
from sandbox.candidate.arguments import UNSIGNED
from sandbox.candidate.header_names import is_ours, words_of_included
from sandbox.candidate.host_half import without_host_half
from sandbox.candidate.host_headers import with_device_headers
from sandbox.candidate.instances import macros
from sandbox.candidate.language import Language, language_of, plan_start
from sandbox.candidate.launch_reader import LaunchReader
from sandbox.candidate.plan import Candidate, Plan, PlanLines, Workspace
from tasks.domain import atoms
from tasks.task import DTYPES

MAX_SOURCE_BYTES = 1 << 20
MAX_PLAN_BYTES = 64 << 10
MAX_ENTRIES: Mapping[str, int] = {"launch": 64, "workspace": 64, "tunables": 32, "constraints": 32}
MAX_VALUES = 256  # of one tunable
MAX_DIMS = 8
_SURROGATE = re.compile("[\ud800-\udfff]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_PLAN_KEYS = frozenset({"launch", "workspace", "tunables", "constraints", "nondeterministic", "requires"})
_REPEATED = ("launch", "variant")  # tables that a plan may hold several times; never both
RESERVED = frozenset(
    re.findall(
        r"\w+",
        """
        alignas alignof and asm auto bitand bitor bool break case catch char class concept const constexpr
        continue decltype default delete do double else enum explicit export extern false float for friend goto
        if inline int long mutable namespace new not nullptr operator or private protected public register
        requires return short signed sizeof static struct switch template this throw true try typedef typeid
        typename union unsigned using virtual void volatile wchar_t while xor min max ceil_div
        """,
    )
)


def normalise(source: str) -> str:
    """Line feeds only, no spaces at line ends, one final newline, no host half. Comments and line numbers stay."""
    full_text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    is_cpp = language_of(full_text) == "hip"
    text = without_host_half(full_text) if is_cpp else full_text
    lines = "\n".join(line.rstrip(" \t\f\v") for line in text.split("\n")).rstrip("\n") + "\n"
    return with_device_headers(lines, has_host_half=text != full_text) if is_cpp else lines


def parse(source: str) -> Candidate:
    """Read a candidate's file; PlanError names the field and the line in the file."""
    text = normalise(source)
    start, end, first_line = plan_span(text)
    language = language_of(text)
    reader = _PlanReader(text[start + 5 : end], first_line, text, language)
    plan = reader.plan()
    if "*/" in text[start + 5 : end]:
        raise PlanError("the launch plan holds */, which ends the comment too early", first_line, "form")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Candidate(digest, text, plan, reader.lines, language)


def plan_span(text: str) -> tuple[int, int, int]:
    """Find the offsets of the plan's comment and of its end mark, and its line; PlanError where a file has none."""
    if len(text.encode("utf-8", errors="replace")) > MAX_SOURCE_BYTES:
        raise PlanError(f"the file is larger than {MAX_SOURCE_BYTES} bytes", 1)
    if "\0" in text or _SURROGATE.search(text):
        raise PlanError("the file is not plain UTF-8 text", 1, "form")
    if not text.strip():
        raise PlanError("the file is empty; it must hold a launch plan and device code", 1, "form")
    start = plan_start(text)
    first_line = text.count("\n", 0, start) + 1
    if text.startswith("```", start):
        raise PlanError(
            "the file starts with a Markdown fence; send the plain file without ``` lines", first_line, "form"
        )
    if not text.startswith("/*+++", start):
        raise PlanError(
            "the file has no launch plan: it must start with the comment /*+++ ... +++*/ that holds the plan in TOML "
            "(a Python file: with a docstring that begins with it)",
            first_line,
            "form",
        )
    end = text.find("+++*/", start + 5)
    if end < 0:
        raise PlanError("the launch plan's comment is not closed with +++*/", first_line, "form")
    if end - start > MAX_PLAN_BYTES:
        raise PlanError(f"the launch plan is larger than {MAX_PLAN_BYTES >> 10} KiB", first_line, "form")
    return start, end, first_line


def read_toml(text: str, first_line: int) -> tuple[dict[str, Any], PlanLines]:
    """Read the table of a plan's text, and the line in the file of every key; PlanError where it is no TOML."""
    read = toml_process().read(text)
    if error := read.get("error"):
        position = re.search(r"\(at line (\d+), column \d+\)", error)
        last = read.get("line") or text.rstrip().count("\n") + 1
        line = first_line + (int(position[1]) if position else last) - 1
        reason = re.sub(r" \(at .*\)", "", error).rstrip(".")[:200]
        raise PlanError(f"the launch plan is not valid TOML: {reason}", line, "form")
    return read["table"], PlanLines(first_line, _lines_of(text, first_line))


class _PlanReader:
    """The TOML of one plan, with the line of every key."""

    def __init__(self, text: str, first_line: int, source: str, language: Language = "hip") -> None:
        self._source, self._language = source, language
        self.table, self.lines = read_toml(text, first_line)
        self._launches = LaunchReader(self.lines, source, language)
        self._expression = self._launches.expression

    def plan(self) -> Plan:
        for key in self.table:
            if key not in _PLAN_KEYS:
                line = self.lines.lines.get(("", 0, key), self.lines.line(key))
                raise PlanError(f"the plan has the unknown key {shown(key)}; it may have {listing(_PLAN_KEYS)}", line)
        launches = self.table.get("launch")
        if not isinstance(launches, list) or not launches or not all(isinstance(x, dict) for x in launches):
            raise PlanError("the plan needs at least one [[launch]] table", self.lines.line("launch"))
        self._count("launch", launches)
        workspaces = tuple(self._workspace(n, v) for n, v in self._section("workspace").items())
        listed = self._section("tunables")
        macro_names = macros(self._source, dict.fromkeys(listed, 0)) if self._language == "hip" else {}
        tunables = {n: self._tunable(n, v, n in macro_names) for n, v in listed.items()}
        for name in tunables:
            if name in {w.name for w in workspaces}:
                raise PlanError(f"{shown(name)} is both a workspace and a tunable", self.lines.line("tunables", name))
            if name in macro_names and name in words_of_included(self._source):
                raise PlanError(
                    f"tunables: the headers use the name {shown(name)} themselves; choose another",
                    self.lines.line("tunables", name),
                )
        constraints = {n: self._expression("constraints", n, v) for n, v in self._section("constraints").items()}
        free = self.table.get("nondeterministic", False)
        if not isinstance(free, bool):
            raise PlanError("nondeterministic must be true or false", self.lines.line("", "nondeterministic"))
        return Plan(self._launches.launches(launches), workspaces, tunables, constraints, self._requires(), free)

    def _requires(self) -> str:
        text, line = self.table.get("requires", ""), self.lines.line("", "requires")
        if not isinstance(text, str) or ("requires" in self.table and not text.strip()):
            raise PlanError('requires must be a condition on the dims, such as "cols % 4 == 0"', line)
        try:
            return " and ".join(atom.text for atom in atoms(text)) if text else ""
        except PlanError as error:
            raise PlanError(f"requires: {error}", line) from None

    def _section(self, name: str) -> Mapping[str, Any]:
        value = self.table.get(name, {})
        if not isinstance(value, dict):
            raise PlanError(f"{shown(name)} must be a table, written [{name}]", self.lines.line(name))
        self._count(name, value)
        return value

    def _count(self, name: str, entries: Sized) -> None:
        if len(entries) > MAX_ENTRIES[name]:
            most = MAX_ENTRIES[name]
            raise PlanError(f"the plan has {len(entries)} entries of {name}; at most {most}", self.lines.line(name))

    def _workspace(self, name: str, value: Any) -> Workspace:
        line = self.lines.line("workspace", name)
        if not _NAME.fullmatch(name):
            raise PlanError(f"workspace: {shown(name)} is not a C identifier", line)
        if not isinstance(value, list) or len(value) < 2:
            raise PlanError(
                f'workspace: {name[:60]} must be a list of a dtype and a shape, such as ["f32", "rows"]', line
            )
        if len(value) > 1 + MAX_DIMS:
            raise PlanError(f"workspace: {name} has more than {MAX_DIMS} dimensions", line)
        dtype = UNSIGNED.get(value[0], value[0]) if isinstance(value[0], str) else ""
        if dtype not in DTYPES:
            raise PlanError(
                f"workspace: {name[:60]} has the unknown dtype {shown(value[0])}; "
                f"known: {', '.join([*DTYPES, *UNSIGNED])}",
                line,
            )
        return Workspace(name, dtype, tuple(self._expression("workspace", name, v) for v in value[1:]))

    def _tunable(self, name: str, value: Any, is_macro: bool) -> tuple[int, ...]:
        line = self.lines.line("tunables", name)
        if not _NAME.fullmatch(name) or name.startswith("__") or name in RESERVED or is_ours(name):
            raise PlanError(
                f"tunables: {shown(name)} cannot be a macro's name; use a C identifier that is no keyword", line
            )
        if len(name) < 2 and is_macro:
            raise PlanError(
                f"tunables: {shown(name)} is too short for a macro: headers use one-letter names; "
                "use two or more letters",
                line,
            )
        if not isinstance(value, list) or not value:
            raise PlanError(f"tunables: {name} must be a list of at least one integer, its default first", line)
        if len(value) > MAX_VALUES:
            raise PlanError(f"tunables: {name} lists more than {MAX_VALUES} values", line)
        for item in value:
            if isinstance(item, bool) or not isinstance(item, int) or not -(2**31) <= item < 2**31:
                raise PlanError(f"tunables: {name} holds {shown(item)}, which is not a 32-bit integer", line)
        if len(set(value)) != len(value):
            raise PlanError(f"tunables: {name} lists a value twice", line)
        return tuple(value)


def _lines_of(text: str, first_line: int) -> dict[tuple[str, int, str], int]:
    """Find the line of each section and key, by section, launch and key."""
    lines: dict[tuple[str, int, str], int] = {}
    section, index, table_count = "", 0, 0
    for number, line in enumerate(text.split("\n"), first_line):
        if header := re.match(r"\s*\[\[?\s*([\w-]+)\s*\]\]?\s*(#.*)?$", line):  # not [[launch.body]]
            section = header[1]
            index = table_count if section in _REPEATED else 0
            table_count += section in _REPEATED
            lines[section, index, ""] = number
        elif key := re.match(r"\s*[\"']?([\w-]+)[\"']?\s*=", line):
            lines.setdefault((section, index, key[1]), number)
    return lines


def listing(names: frozenset[str] | list[str]) -> str:
    """Names for a sentence."""
    ordered = sorted(names) if isinstance(names, frozenset) else names
    return ", ".join(ordered) or "none"
