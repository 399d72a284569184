"""The [[launch]] tables of a plan as a row of launches: kernels, fills and copies before them, and loops around them.

[[launch]]
for    = "i in range(log2(n))"       # optional; a list of such texts is nested, the first outside
when   = "i % 2 == 0"                # optional: the launch is left out where this is 0
copy   = {y = "x"}                   # optional, before the launch: y becomes what x is
fill   = {count = 0}                 # optional, before the launch: every element
symbol = {mask = "w", size = ["n"]}  # optional, before the launch: variables of the device, from a buffer or by value
kernel = "ops::scan<float, BLOCK>"   # a function, or an instantiation of a template
grid   = ["ceil_div(n, BLOCK)"]
block  = ["BLOCK"]
cooperative = true                   # optional: all workgroups run at once; found where the text waits for the grid
args   = ["x", "y + i", 0, 1.5, "null", "n * 4:i64", ["n", 1]]   # a list is a struct by value
[[launch.body]]                      # in place of kernel: several launches in one loop
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from reprlib import repr as shown
from typing import Any

from records.errors import PlanError
from sandbox.candidate.instances import MAX_NAME, is_kernel_name, is_plain, names_of_the_judge
from sandbox.candidate.language import Language
from sandbox.candidate.meta_reader import META_KEYS, block_of, read_meta
from sandbox.candidate.plan import CONTENTS, COPY, FILL, VALUE, Argument, Launch, Loop, MetaParameters, PlanLines
from tasks.expressions import MAX_LENGTH

MAX_ARGS = 64
MAX_LOOPS = 4
MAX_DEPTH = 3  # of structs within each other
_KEYS = frozenset(
    {"kernel", "grid", "block", "lds", "args", "for", "when", "fill", "copy", "symbol", "body", "cooperative"}
)
_OF_TRITON = (_KEYS - {"block", "lds", "symbol"}) | META_KEYS
_STEPS = frozenset({"fill", "copy", "symbol"})
_SAMPLES = {"fill": "{y = 0}", "copy": '{y = "x"}', "symbol": '{mask = "w"}'}
_VARIABLE = re.compile(r"(?:::)?[A-Za-z_]\w{0,99}(?:::[A-Za-z_]\w{0,99}){0,8}", re.A)
# No part is read twice, or a text of one long word or of many spaces takes hours.
_GRID = re.compile(r"\b(\w++)\s*+[=({]\s*+(?:\w*+::)*+this_grid\s*+\(|\bgrid_group\s*+&?+\s*+(\w++)", re.A)
_BARRIER = re.compile(r"\b(\w++)\s*+(?:\(\s*+\)\s*+)?+(?:\.|->)\s*+sync\s*+\(|\bsync\s*+\(\s*+(?:\w*+::)*+(\w++)", re.A)
_LAUNCHED = ("kernel", "grid", "block", "args")
_DERIVED = {  # what a kernel of Triton's has no need to be told, and why
    "block": "a workgroup has 64 * num_warps work-items",
    "lds": "the compiler says how much LDS a kernel needs",
    "symbol": "its kernels have no variables of the device",
}


def waits_for_grid(source: str) -> bool:
    """Tell whether the text has a barrier of cooperative groups' grid."""
    names = {name for pair in _GRID.findall(source) for name in pair if name} | {"this_grid"}
    return any(name in names for pair in _BARRIER.findall(source) for name in pair if name)


class LaunchReader:
    """Reads the tables of one plan."""

    def __init__(self, lines: PlanLines, source: str = "", language: Language = "hip") -> None:
        self._lines = lines
        self._language = language
        self._keys = _OF_TRITON if language == "triton" else _KEYS
        self._waits_for_grid = language == "hip" and waits_for_grid(source)
        self._loops = 0

    def launches(self, tables: list[Any]) -> tuple[Launch, ...]:
        """All steps in order; PlanError with the line."""
        return tuple(launch for index, table in enumerate(tables) for launch in self._table(table, index))

    def _table(self, table: Mapping[str, Any], index: int) -> Iterator[Launch]:
        if "body" not in table:
            yield from self._steps(table, index, self._loops_of(table, index), self._keys)
            return
        body = table["body"]
        if not isinstance(body, list) or not body or not all(isinstance(x, dict) for x in body):
            raise PlanError(f"launch {index + 1}: body must be [[launch.body]] tables", self._line("body", index))
        if odd := sorted(set(table) - {"body", "for"}):
            raise PlanError(
                f"launch {index + 1} has a body; put {shown(odd[0])} into its tables", self._line(odd[0], index)
            )
        outer = self._loops_of(table, index)
        for inner_table in body:
            yield from self._steps(
                inner_table, index, (*outer, *self._loops_of(inner_table, index)), self._keys - {"body"}
            )

    def _steps(
        self, table: Mapping[str, Any], index: int, loops: tuple[Loop, ...], allowed_keys: frozenset[str]
    ) -> Iterator[Launch]:
        for key in table:
            if key not in allowed_keys:
                if self._language == "triton" and key in _DERIVED:
                    raise PlanError(f"launch {index + 1}: leave {key} out; {_DERIVED[key]}", self._line(key, index))
                raise PlanError(
                    f"launch {index + 1} has the unknown key {shown(key)}; "
                    f"it may have {', '.join(sorted(allowed_keys))}",
                    self._line(key, index),
                )
        when = self.expression("launch", "when", table.get("when", 1), index) if "when" in table else ""
        for key, step in (("copy", COPY), ("fill", FILL)):
            for name, value in self._named(table, key, index).items():
                yield self._step(step, key, name, value, index, loops, when)
        for name, value in self._named(table, "symbol", index).items():
            yield self._symbol(name, value, index, loops, when)
        if not any(key in table for key in (*_LAUNCHED, "lds")) and not _STEPS.isdisjoint(table):
            return
        meta = self._meta(table, index)
        for key in _LAUNCHED:
            if key not in table and not (meta and key in _DERIVED):
                raise PlanError(f"launch {index + 1} lacks {key!r}", self._line("", index))
        args = table["args"]
        if not isinstance(args, list):
            raise PlanError(f"launch {index + 1}: args must be a list of arguments", self._line("args", index))
        if len(args) > MAX_ARGS:
            raise PlanError(f"launch {index + 1}: more than {MAX_ARGS} args", self._line("args", index))
        yield Launch(
            self._kernel(table["kernel"], index),
            self._extent("grid", table["grid"], index),
            block_of(meta) if meta else self._extent("block", table["block"], index),
            self.expression("launch", "lds", table.get("lds", 0), index),
            tuple(self._argument(argument, index) for argument in args),
            self._line("", index),
            loops,
            when,
            index,
            self._cooperative(table, index),
            meta,
        )

    def _meta(self, table: Mapping[str, Any], index: int) -> MetaParameters | None:
        if self._language == "assembly" and "symbol" in table:
            message = f"launch {index + 1}: symbol is for HIP sources; pass a buffer as an argument"
            raise PlanError(message, self._line("symbol", index))
        if self._language != "triton":
            return None
        return read_meta(table, f"launch {index + 1}", self._line("constants", index))

    def _cooperative(self, table: Mapping[str, Any], index: int) -> bool:
        cooperative = table.get("cooperative", self._waits_for_grid)
        if not isinstance(cooperative, bool):
            raise PlanError(f"launch {index + 1}: cooperative is true or false", self._line("cooperative", index))
        return cooperative

    def _step(
        self, step: str, key: str, name: str, value: Any, index: int, loops: tuple[Loop, ...], when: str
    ) -> Launch:
        if step == COPY and not isinstance(value, str):
            raise PlanError(f'launch {index + 1}: copy names two buffers, such as {{y = "x"}}', self._line(key, index))
        if step == FILL and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise PlanError(
                f"launch {index + 1}: fill gives a buffer one number, such as {{y = 0}}", self._line(key, index)
            )
        return Launch(step, ("1",), ("1",), "0", (name, str(value), "0"), self._line(key, index), loops, when, index)

    def _symbol(self, name: str, value: Any, index: int, loops: tuple[Loop, ...], when: str) -> Launch:
        """Read a variable's new contents: a buffer's where a text names one, else a value, a struct for a list."""
        if not _VARIABLE.fullmatch(name) or names_of_the_judge(name):
            message = f"launch {index + 1}: symbol names variables of the device, and {shown(name)} cannot be one"
            raise PlanError(message, self._line("symbol", index))
        is_buffer = isinstance(value, str)
        argument = self._argument(value if is_buffer or isinstance(value, (list, dict)) else [value], index)
        kernel, items = (f"{CONTENTS}<&{name}>", "256") if is_buffer else (f"{VALUE}<&{name}>", "1")
        args = (argument, "0:i64") if is_buffer else (argument,)  # the bytes follow from the case
        return Launch(kernel, ("1",), (items,), "0", args, self._line("symbol", index), loops, when, index)

    def _named(self, table: Mapping[str, Any], key: str, index: int) -> Mapping[str, Any]:
        value = table.get(key, {})
        if not isinstance(value, dict) or (key in table and not value):
            message = f"launch {index + 1}: {key} must be a table such as {_SAMPLES[key]}"
            raise PlanError(message, self._line(key, index))
        return value

    def _kernel(self, kernel: Any, index: int) -> str:
        if not isinstance(kernel, str) or not is_kernel_name(kernel):
            raise PlanError(
                f"launch {index + 1}: kernel must be the name of a __global__ function, such as "
                f'"ops::scan<float, 256>", in at most {MAX_NAME} characters, not {shown(kernel)}',
                self._line("kernel", index),
            )
        if self._language != "hip" and not is_plain(kernel):
            raise PlanError(
                f"launch {index + 1}: kernel must be the plain name of a kernel of this file, not {shown(kernel)}",
                self._line("kernel", index),
            )
        if ours := names_of_the_judge(kernel):
            raise PlanError(f"launch {index + 1}: the name {ours[0]} belongs to the judge", self._line("kernel", index))
        return " ".join(kernel.split())

    def _argument(self, value: Any, index: int, depth: int = MAX_DEPTH) -> Argument:
        """Write a text that `arguments.py` reads; a tuple of them for a struct."""
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list) and depth:
            return tuple(self._argument(field, index, depth - 1) for field in value)
        match value:
            case bool():
                return f"{int(value)}:bool"
            case int():
                return str(value)
            case float():
                return f"{value!r}:f32"
            case str() if value.strip() and len(value) <= MAX_LENGTH:
                return value.strip()
        raise PlanError(
            f"launch {index + 1}: args holds {shown(value)}; an argument is a name, a number, an expression in quotes, "
            '"null", or a list of these for a struct',
            self._line("args", index),
        )

    def _extent(self, key: str, value: Any, index: int) -> tuple[str, ...]:
        if not isinstance(value, list) or not 1 <= len(value) <= 3:
            raise PlanError(
                f"launch {index + 1}: {key} must be a list of one to three expressions", self._line(key, index)
            )
        return tuple(self.expression("launch", key, item, index) for item in value)

    def expression(self, section: str, key: str, value: Any, index: int = 0) -> str:
        """Read the text of the integer expression under this key; PlanError where it is none."""
        label = f"launch {index + 1}: {key}" if section == "launch" else f"{section}: {key}"
        line = self._lines.line(section, key, index)
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise PlanError(f"{label} must be an integer or an expression in quotes, not {shown(value)}", line)
        text = str(value).strip()
        if not text:
            raise PlanError(f"{label} is an empty expression", line)
        if len(text) > MAX_LENGTH:
            raise PlanError(f"{label} is an expression of more than {MAX_LENGTH} characters", line)
        return text

    def _loops_of(self, table: Mapping[str, Any], index: int) -> tuple[Loop, ...]:
        value = table.get("for", [])
        texts = value if isinstance(value, list) else [value]
        if len(texts) > MAX_LOOPS or ("for" in table and not texts):
            raise PlanError(f"launch {index + 1}: for holds one to {MAX_LOOPS} loops", self._line("for", index))
        return tuple(self._loop(self.expression("launch", "for", text, index), index) for text in texts)

    def _loop(self, text: str, index: int) -> Loop:
        try:
            tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            tree = None
        match tree:
            case ast.Compare(
                left=ast.Name(id=name),
                ops=[ast.In()],
                comparators=[ast.Call(func=ast.Name(id="range"), args=[_, *_] as bounds, keywords=[])],
            ) if len(bounds) <= 3:
                parts = [ast.unparse(bound) for bound in bounds]
                start, stop = ("0", parts[0]) if len(parts) == 1 else parts[:2]
                self._loops += 1
                return Loop(name, start, stop, parts[2] if len(parts) == 3 else "1", self._loops)
        raise PlanError(
            f'launch {index + 1}: for must be a text such as "i in range(log2(n))", not {shown(text)}',
            self._line("for", index),
        )

    def _line(self, key: str, index: int) -> int:
        return self._lines.line("launch", key, index)
