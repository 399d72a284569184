"""Read the launch plan in a candidate's first comment, and check it against a task.

/*+++
nondeterministic = true              # optional: the order of atomics may change the last bits
[[launch]]
kernel = "name"
grid   = ["ceil_div(rows, ROWS)"]    # one to three expressions over dims and tunables
block  = [256]
lds    = 0                           # optional: dynamic LDS bytes
args   = ["x", "y", "rows:i64"]      # inputs, outputs, workspaces, dims, scalars, tunables
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
import tomllib
from collections.abc import Mapping
from typing import Any

from records.errors import PlanError
from sandbox.candidate.header_names import OURS, header_words
from sandbox.candidate.limits import check_arguments, check_limits
from sandbox.candidate.plan import Candidate, Launch, Plan, Workspace
from sandbox.candidate.resolve import BufferArg, ResolvedLaunch, ResolvedPlan, ScalarArg, choices, resolve
from tasks.expressions import evaluate, names_in
from tasks.task import DTYPES, Task

__all__ = [
    "BufferArg",
    "ResolvedLaunch",
    "ResolvedPlan",
    "ScalarArg",
    "check",
    "check_arguments",
    "check_limits",
    "choices",
    "normalise",
    "parse",
    "resolve",
]

MAX_SOURCE_BYTES = 1 << 20
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ARG = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(:i64|:i32)?")
_PLAN_KEYS = frozenset({"launch", "workspace", "tunables", "constraints", "nondeterministic"})
_LAUNCH_KEYS = frozenset({"kernel", "grid", "block", "lds", "args"})
_RESERVED = frozenset(
    {
        "alignas",
        "alignof",
        "and",
        "asm",
        "auto",
        "bitand",
        "bitor",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "class",
        "concept",
        "const",
        "constexpr",
        "continue",
        "decltype",
        "default",
        "delete",
        "do",
        "double",
        "else",
        "enum",
        "explicit",
        "export",
        "extern",
        "false",
        "float",
        "for",
        "friend",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "mutable",
        "namespace",
        "new",
        "not",
        "nullptr",
        "operator",
        "or",
        "private",
        "protected",
        "public",
        "register",
        "requires",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "template",
        "this",
        "throw",
        "true",
        "try",
        "typedef",
        "typeid",
        "typename",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "wchar_t",
        "while",
        "xor",
        "min",
        "max",
        "ceil_div",
    }
)


def normalise(source: str) -> str:
    """Line feeds only, no spaces at line ends, one final newline. Comments and line numbers stay."""
    text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(line.rstrip(" \t\f\v") for line in text.split("\n")).rstrip("\n") + "\n"


def parse(source: str) -> Candidate:
    """Read a candidate's file; PlanError names the field and the line in the file."""
    text = normalise(source)
    if len(text.encode("utf-8", errors="replace")) > MAX_SOURCE_BYTES:
        raise PlanError(f"the file is larger than {MAX_SOURCE_BYTES} bytes", 1)
    if "\0" in text or any("\ud800" <= c <= "\udfff" for c in text):
        raise PlanError("the file is not plain UTF-8 text", 1, "form")
    if not text.strip():
        raise PlanError("the file is empty; it must hold a launch plan and device code", 1, "form")
    start = len(text) - len(text.lstrip())
    first_line = text.count("\n", 0, start) + 1
    if text.startswith("```", start):
        raise PlanError(
            "the file starts with a Markdown fence; send the plain file without ``` lines", first_line, "form"
        )
    if not text.startswith("/*+++", start):
        raise PlanError(
            "the file has no launch plan: it must start with the comment /*+++ ... +++*/ that holds the plan in TOML",
            first_line,
            "form",
        )
    end = text.find("+++*/", start + 5)
    if end < 0:
        raise PlanError("the launch plan's comment is not closed with +++*/", first_line, "form")
    plan = _PlanReader(text[start + 5 : end], first_line).plan()
    if "*/" in text[start + 5 : end]:
        raise PlanError("the launch plan holds */, which ends the comment too early", first_line, "form")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Candidate(digest, text, plan, first_line + text.count("\n", start, end) + 1)


class _PlanReader:
    """The TOML of one plan, with the line of every key."""

    def __init__(self, text: str, first_line: int) -> None:
        self.first_line = first_line
        self.lines: dict[tuple[str, int, str], int] = {}
        self._find_lines(text)
        try:
            self.table: dict[str, Any] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            where = re.search(r"\(at line (\d+), column \d+\)", str(error))
            line = first_line + int(where[1]) - 1 if where else first_line + text.rstrip().count("\n")
            reason = re.sub(r" \(at .*\)", "", str(error)).rstrip(".")
            raise PlanError(f"the launch plan is not valid TOML: {reason}", line, "form") from None
        except RecursionError:
            raise PlanError("the launch plan is nested too deeply", first_line, "form") from None

    def _find_lines(self, text: str) -> None:
        section, index, seen = "", 0, 0
        for number, line in enumerate(text.split("\n"), self.first_line):
            if header := re.match(r"\s*\[\[?\s*([\w-]+)\s*\]\]?\s*(#.*)?$", line):
                section = header[1]
                index = seen if section == "launch" else 0
                seen += section == "launch"
                self.lines[section, index, ""] = number
            elif key := re.match(r"\s*[\"']?([\w-]+)[\"']?\s*=", line):
                self.lines.setdefault((section, index, key[1]), number)

    def line(self, section: str, key: str = "", index: int = 0) -> int:
        """Where a key stands; else its section; else the plan."""
        for place in ((section, index, key), (section, index, ""), ("", 0, section)):
            if place in self.lines:
                return self.lines[place]
        return self.first_line

    def plan(self) -> Plan:
        for key in self.table:
            if key not in _PLAN_KEYS:
                line = self.lines.get(("", 0, key), self.line(key))
                raise PlanError(f"the plan has the unknown key {key!r}; it may have {_listing(_PLAN_KEYS)}", line)
        launches = self.table.get("launch")
        if not isinstance(launches, list) or not launches or not all(isinstance(x, dict) for x in launches):
            raise PlanError("the plan needs at least one [[launch]] table", self.line("launch"))
        workspaces = tuple(self._workspace(n, v) for n, v in self._section("workspace").items())
        tunables = {n: self._tunable(n, v) for n, v in self._section("tunables").items()}
        for name in tunables:
            if name in {w.name for w in workspaces}:
                raise PlanError(f"{name!r} is both a workspace and a tunable", self.line("tunables", name))
            if name in header_words():
                raise PlanError(
                    f"tunables: the headers use the name {name!r} themselves; choose another",
                    self.line("tunables", name),
                )
        constraints = {n: self._expression("constraints", n, v, 0) for n, v in self._section("constraints").items()}
        free = self.table.get("nondeterministic", False)
        if not isinstance(free, bool):
            raise PlanError("nondeterministic must be true or false", self.line("", "nondeterministic"))
        return Plan(tuple(self._launch(x, i) for i, x in enumerate(launches)), workspaces, tunables, constraints, free)

    def _section(self, name: str) -> Mapping[str, Any]:
        value = self.table.get(name, {})
        if not isinstance(value, dict):
            raise PlanError(f"{name!r} must be a table, written [{name}]", self.line(name))
        return value

    def _launch(self, table: Mapping[str, Any], index: int) -> Launch:
        for key in table:
            if key not in _LAUNCH_KEYS:
                raise PlanError(
                    f"launch {index + 1} has the unknown key {key!r}; it may have {_listing(_LAUNCH_KEYS)}",
                    self.line("launch", key, index),
                )
        for key in ("kernel", "grid", "block", "args"):
            if key not in table:
                raise PlanError(f"launch {index + 1} lacks {key!r}", self.line("launch", "", index))
        kernel, args = table["kernel"], table["args"]
        if not isinstance(kernel, str) or not _NAME.fullmatch(kernel):
            raise PlanError(
                f"launch {index + 1}: kernel must be the name of a __global__ function, not {kernel!r}",
                self.line("launch", "kernel", index),
            )
        if not isinstance(args, list) or not all(isinstance(a, str) and _ARG.fullmatch(a) for a in args):
            raise PlanError(
                f"launch {index + 1}: args must be a list of names, with :i64 after a 64-bit dim",
                self.line("launch", "args", index),
            )
        return Launch(
            kernel,
            self._extent("grid", table["grid"], index),
            self._extent("block", table["block"], index),
            self._expression("launch", "lds", table.get("lds", 0), index),
            tuple(args),
            self.line("launch", "", index),
        )

    def _extent(self, key: str, value: Any, index: int) -> tuple[str, ...]:
        if not isinstance(value, list) or not 1 <= len(value) <= 3:
            raise PlanError(
                f"launch {index + 1}: {key} must be a list of one to three expressions", self.line("launch", key, index)
            )
        return tuple(self._expression("launch", key, item, index) for item in value)

    def _expression(self, section: str, key: str, value: Any, index: int) -> str:
        place = f"launch {index + 1}: {key}" if section == "launch" else f"{section}: {key}"
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise PlanError(
                f"{place} must be an integer or an expression in quotes, not {value!r}", self.line(section, key, index)
            )
        text = str(value).strip()
        if not text:
            raise PlanError(f"{place} is an empty expression", self.line(section, key, index))
        return text

    def _workspace(self, name: str, value: Any) -> Workspace:
        line = self.line("workspace", name)
        if not _NAME.fullmatch(name):
            raise PlanError(f"workspace: {name!r} is not a C identifier", line)
        if not isinstance(value, list) or len(value) < 2:
            raise PlanError(f'workspace: {name} must be a list of a dtype and a shape, such as ["f32", "rows"]', line)
        if value[0] not in DTYPES:
            raise PlanError(f"workspace: {name} has the unknown dtype {value[0]!r}; known: {', '.join(DTYPES)}", line)
        return Workspace(name, value[0], tuple(self._expression("workspace", name, v, 0) for v in value[1:]))

    def _tunable(self, name: str, value: Any) -> tuple[int, ...]:
        line = self.line("tunables", name)
        if not _NAME.fullmatch(name) or name.startswith("__") or name in _RESERVED or OURS.fullmatch(name):
            raise PlanError(f"tunables: {name!r} cannot be a macro's name; use a C identifier that is no keyword", line)
        if len(name) < 2:
            raise PlanError(
                f"tunables: {name!r} is too short for a macro: headers use one-letter names; use two or more letters",
                line,
            )
        if not isinstance(value, list) or not value:
            raise PlanError(f"tunables: {name} must be a list of at least one integer, its default first", line)
        for item in value:
            if isinstance(item, bool) or not isinstance(item, int) or not -(2**31) <= item < 2**31:
                raise PlanError(f"tunables: {name} holds {item!r}, which is not a 32-bit integer", line)
        if len(set(value)) != len(value):
            raise PlanError(f"tunables: {name} lists a value twice", line)
        return tuple(value)


def check(candidate: Candidate, task: Task) -> None:
    """Refuse a plan that does not fit the task: unknown or clashing names, outputs no launch reaches, bad sizes."""
    plan, lines = candidate.plan, _lines_of(candidate)
    tensors = [t.name for t in (*task.inputs, *task.outputs)]
    dims = sorted({name for case in (*task.tests, *task.benchmarks) for name in case.dims})
    scalars = [s.name for s in task.scalars]
    for section, names in (("tunables", list(plan.tunables)), ("workspace", [w.name for w in plan.workspaces])):
        for name in names:
            if name in (*tensors, *dims, *scalars):
                raise PlanError(f"{section}: {name!r} is already a name of the task", lines.line(section, name))
    buffers = {*tensors, *(w.name for w in plan.workspaces)}
    for index, launch in enumerate(plan.launches):
        for argument in launch.args:
            name, _, width = argument.partition(":")
            line = lines.line("launch", "args", index)
            if name not in buffers and name not in dims and name not in scalars and name not in plan.tunables:
                raise PlanError(
                    f"launch {index + 1}: args names {name!r}, which is no input, output, workspace, dim, "
                    f"scalar or tunable; known are {_listing([*sorted(buffers), *dims, *scalars])}",
                    line,
                )
            if width and name not in dims and name not in plan.tunables:
                raise PlanError(
                    f"launch {index + 1}: {argument!r} asks for an integer width, but {name} is no dim and no tunable",
                    line,
                )
    reached = {a for launch in plan.launches for a in launch.args}
    for output in task.outputs:
        if output.name not in reached:
            raise PlanError(f"no launch takes the output {output.name!r} as an argument", lines.line("launch"))
    _check_expressions(candidate, task, lines, frozenset(dims))
    _check_default(candidate, task, lines)


def _check_expressions(candidate: Candidate, task: Task, lines: _PlanReader, dims: frozenset[str]) -> None:
    plan = candidate.plan
    places: list[tuple[str, str, int, tuple[str, ...]]] = [
        ("constraints", name, 0, (text,)) for name, text in plan.constraints.items()
    ]
    places += [("workspace", w.name, 0, w.shape) for w in plan.workspaces]
    for index, launch in enumerate(plan.launches):
        places += [
            ("launch", "grid", index, launch.grid),
            ("launch", "block", index, launch.block),
            ("launch", "lds", index, (launch.lds,)),
        ]
    known = dims | set(plan.tunables)
    case = (*task.tests, *task.benchmarks)[0]
    for section, key, index, texts in places:
        place = f"launch {index + 1}: {key}" if section == "launch" else f"{section}: {key}"
        for text in texts:
            for name in sorted(names_in(text) - known):
                raise PlanError(
                    f"{place} uses the unknown name {name!r}; known are {_listing(sorted(known))}",
                    lines.line(section, key, index),
                )
            try:
                evaluate(text, {**case.dims, **candidate.defaults()})
            except PlanError as error:
                raise PlanError(f"{place}: {error}", lines.line(section, key, index)) from None


def _check_default(candidate: Candidate, task: Task, lines: _PlanReader) -> None:
    for name, text in candidate.plan.constraints.items():
        for case in (*task.tests, *task.benchmarks):
            if not evaluate(text, {**case.dims, **candidate.defaults()}):
                raise PlanError(
                    f"constraints: {name} does not hold for the default tunables on the case {case.name}",
                    lines.line("constraints", name),
                )


def _lines_of(candidate: Candidate) -> _PlanReader:
    text = candidate.source
    start = text.index("/*+++")
    return _PlanReader(text[start + 5 : text.index("+++*/", start + 5)], text.count("\n", 0, start) + 1)


def _listing(names: frozenset[str] | list[str]) -> str:
    ordered = sorted(names) if isinstance(names, frozenset) else names
    return ", ".join(ordered) or "none"
