"""Reads `task.toml`: every unknown, missing or malformed field is a TaskError that names the file and the field."""

from __future__ import annotations

import hashlib
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn, cast

from records.errors import PlanError, TaskError
from records.evaluation import CaseRole
from tasks.expressions import evaluate, names_in
from tasks.task import DTYPES, Case, ScalarSpec, TensorSpec

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
LAYOUTS = ("row_major", "column_major")
INTEGERS = ("i64", "i32", "i16", "i8", "u8", "bool")
INT32 = 2**31 - 1  # dims reach kernels as 32-bit ints


@dataclass(frozen=True)
class Manifest:
    """What a task.toml says, checked; the fields are those of `Task`."""

    name: str
    title: str
    description: str
    targets: tuple[str, ...]
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    scalars: tuple[ScalarSpec, ...]
    tests: tuple[Case, ...]
    benchmarks: tuple[Case, ...]
    flops: str
    bytes_moved: str
    peak: str
    ratio: float
    rtol: float | None
    atol: float
    multiples: Mapping[str, int]
    variant_names: tuple[str, ...]


class Table:
    """One TOML table with its place in the file; what is taken from it is checked, what is left over is refused."""

    def __init__(self, path: Path, where: str, data: object) -> None:
        self.path, self.where = path, where
        if not isinstance(data, dict):
            self.fail("must be a table")
        self.left: dict[str, Any] = dict(cast(dict[str, Any], data))

    def fail(self, message: str) -> NoReturn:
        """Raise the TaskError for this table."""
        raise TaskError(f"{self.path}: {self.where + ' ' if self.where else ''}{message}")

    def wrong(self, key: str, message: str) -> NoReturn:
        """Raise the TaskError for one field."""
        self.fail(f"field {key!r} {message}")

    def take(self, key: str, default: object = None) -> Any:
        """The field's raw value; without a default it must be there."""
        if key not in self.left and default is None:
            self.fail(f"field {key!r} is missing")
        return self.left.pop(key, default)

    def text(self, key: str, default: str | None = None) -> str:
        """A string that says something."""
        value = self.take(key, default)
        if not isinstance(value, str) or not value.strip():
            self.wrong(key, f"must be a non-empty string, not {value!r}")
        return value.strip()

    def name(self, key: str) -> str:
        """An identifier."""
        value = self.text(key)
        if not NAME.fullmatch(value):
            self.wrong(key, f"must be a name of letters, digits and underscores, not {value!r}")
        return value

    def choice(self, key: str, allowed: Sequence[str], default: str | None = None) -> str:
        """One of the allowed words."""
        value = self.text(key, default)
        if value not in allowed:
            self.wrong(key, f"is {value!r}; it must be one of {', '.join(allowed)}")
        return value

    def number(self, key: str, default: float | None = None, low: float = 0.0, inclusive: bool = False) -> float:
        """A finite number above `low`, or from `low` where inclusive."""
        value = self.take(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            self.wrong(key, f"must be a number, not {value!r}")
        if value < low or (value == low and not inclusive):
            self.wrong(key, f"must be {'at least' if inclusive else 'above'} {low:g}, not {value!r}")
        return float(value)

    def integer(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """An integer in the range."""
        value = self.take(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.wrong(key, f"must be an integer from {low} to {high}, not {value!r}")
        return value

    def strings(self, key: str) -> tuple[str, ...]:
        """A list of at least one non-empty string."""
        value = self.take(key)
        if not isinstance(value, list) or not value or not all(isinstance(v, str) and v.strip() for v in value):
            self.wrong(key, f"must be a list of at least one string, not {value!r}")
        return tuple(v.strip() for v in value)

    def tables(self, key: str) -> list[Table]:
        """An array of at least one table."""
        value = self.take(key)
        if not isinstance(value, list) or not value:
            self.wrong(key, f"must be given as [[{key}]] at least once")
        return [Table(self.path, f"[[{key}]] number {i}:", item) for i, item in enumerate(value, 1)]

    def table(self, key: str, required: bool) -> Table:
        """One sub-table, empty where it may be left out."""
        return Table(self.path, f"[{key}]", self.take(key, None if required else {}))

    def close(self) -> None:
        """Refuse what nobody asked for."""
        if self.left:
            self.fail(f"has the unknown field {', '.join(repr(k) for k in self.left)}")


def read_manifest(path: Path, text: str) -> Manifest:
    """Parse and check the text of a task.toml; `path` is for messages only."""
    try:
        root = Table(path, "", tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise TaskError(f"{path}: is not valid TOML: {error}") from None
    work, tolerance = root.table("work", True), root.table("tolerance", True)
    tests, benchmarks = _cases(root.tables("test"), "test"), _cases(root.tables("benchmark"), "benchmark")
    manifest = Manifest(
        name=root.name("name"), title=root.text("title"), description=root.text("description"),
        targets=root.strings("targets"),
        inputs=_tensors(root.tables("input")), outputs=_tensors(root.tables("output")),
        scalars=_scalars(root.table("scalars", False)),
        tests=tests, benchmarks=benchmarks,
        flops=work.text("flops"), bytes_moved=work.text("bytes"), peak=work.name("peak") if "peak" in work.left
        else "fp32_vector",
        ratio=tolerance.number("ratio", low=1.0, inclusive=True),
        rtol=tolerance.number("rtol") if "rtol" in tolerance.left else None,
        atol=tolerance.number("atol", 0.0, inclusive=True),
        multiples=_multiples(root.table("dims", False), tests[0].dims),
        variant_names=root.strings("variants") if "variants" in root.left else (),
    )
    if manifest.atol and manifest.rtol is None:
        tolerance.wrong("atol", "needs 'rtol' beside it: an absolute bound alone lets small outputs pass unseen")
    for table in (work, tolerance, root):
        table.close()
    _check_dims(root, manifest)
    _check_names(root, manifest)
    _check_expressions(root, manifest)
    return manifest


def _tensors(tables: list[Table]) -> tuple[TensorSpec, ...]:
    specs = []
    for table in tables:
        layout = cast(Literal["row_major", "column_major"], table.choice("layout", LAYOUTS, "row_major"))
        specs.append(TensorSpec(table.name("name"), table.choice("dtype", DTYPES), table.strings("shape"), layout))
        table.close()
    return tuple(specs)


def _scalars(table: Table) -> tuple[ScalarSpec, ...]:
    specs = []
    for name in list(table.left):
        if not NAME.fullmatch(name):
            table.wrong(name, "must be a name of letters, digits and underscores")
        item = Table(table.path, f"[scalars] {name}:", table.take(name))
        dtype, value = item.choice("dtype", DTYPES), item.take("value")
        kinds = int if dtype in INTEGERS else (int, float)
        if isinstance(value, bool) != (dtype == "bool") or not isinstance(value, kinds):
            item.wrong("value", f"must be a value of type {dtype}, not {value!r}")
        item.close()
        specs.append(ScalarSpec(name, dtype, value))
    return tuple(specs)


def _cases(tables: list[Table], role: CaseRole) -> tuple[Case, ...]:
    cases: dict[str, Case] = {}
    for table in tables:
        weight = table.number("weight", 1.0)
        seed = table.integer("seed", 0, 2**32 - 1) if "seed" in table.left else None
        dims = {}
        for key in list(table.left):
            if not NAME.fullmatch(key):
                table.wrong(key, "must be a name of letters, digits and underscores")
            dims[key] = table.integer(key, 1, INT32)
        if not dims:
            table.fail("has no dims")
        name = case_name(dims)
        if name in cases:
            table.fail(f"repeats the case {name}")
        cases[name] = Case(name, dims, derived_seed(name) if seed is None else seed, weight, role)
    return tuple(cases.values())


def case_name(dims: Mapping[str, int]) -> str:
    """`rows=7,cols=1000`."""
    return ",".join(f"{key}={value}" for key, value in dims.items())


def derived_seed(name: str) -> int:
    """The default seed of a case: 32 bits that depend on its dims only."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")


def _multiples(table: Table, dims: Mapping[str, int]) -> dict[str, int]:
    result = {}
    for name in list(table.left):
        if name not in dims:
            table.wrong(name, f"is no dim of this task; its dims are {', '.join(dims)}")
        item = Table(table.path, f"[dims] {name}:", table.take(name))
        result[name] = item.integer("multiple", 1, INT32)
        item.close()
    return result


def _check_dims(root: Table, manifest: Manifest) -> None:
    dims = tuple(manifest.tests[0].dims)
    for case in manifest.tests + manifest.benchmarks:
        if tuple(case.dims) != dims:
            root.fail(f"the {case.role} case {case.name} must have the dims {', '.join(dims)} in this order")
        for name, multiple in manifest.multiples.items():
            if case.dims[name] % multiple:
                root.fail(f"the {case.role} case {case.name} breaks [dims]: {name} must be a multiple of {multiple}")


def _check_names(root: Table, manifest: Manifest) -> None:
    names = [t.name for t in manifest.inputs + manifest.outputs] + [s.name for s in manifest.scalars]
    names += manifest.tests[0].dims
    for name in names:
        if names.count(name) > 1:
            root.fail(f"the name {name!r} is used more than once among inputs, outputs, scalars and dims")


def _check_expressions(root: Table, manifest: Manifest) -> None:
    places = [("[work] field 'flops'", manifest.flops, 0), ("[work] field 'bytes'", manifest.bytes_moved, 1)]
    for tensor in manifest.inputs + manifest.outputs:
        places += [(f"the shape of {tensor.name!r}", text, 1) for text in tensor.shape]
    for where, text, low in places:
        unknown = names_in(text) - set(manifest.tests[0].dims)
        if unknown:
            root.fail(f"{where} uses {', '.join(sorted(unknown))}, which is no dim of the cases")
        for case in manifest.tests + manifest.benchmarks:
            try:
                value = evaluate(text, case.dims)
            except PlanError as error:
                root.fail(f"{where}: {error}")
            if value < low:
                root.fail(f"{where} is {value} for the case {case.name}; it must be at least {low}")
