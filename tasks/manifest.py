"""Reads `task.toml`: every unknown, missing or malformed field is a TaskError that names the file and the field."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from records.errors import PlanError, TaskError
from records.toml_process import toml_process
from tasks.cases import INT32 as INT32
from tasks.cases import INTEGERS, read_cases, read_scalars
from tasks.cases import case_name as case_name
from tasks.cases import derived_seed as derived_seed
from tasks.dtypes import size_bytes
from tasks.expressions import evaluate, names_in
from tasks.origin import Origin
from tasks.table import Table
from tasks.task import DTYPES, Golden, ScalarSpec, Statement, TensorSpec
from tasks.tensor_fields import BOUNDS, read_inputs, read_outputs, read_tolerance

Spec = TypeVar("Spec", TensorSpec, ScalarSpec)

MOST_DRAWS = 64  # that are recorded of a case


@dataclass(frozen=True)
class Adaptation:
    """One `[target.NAME]` table of a task.toml."""

    dtypes: Mapping[str, str] = field(default_factory=dict)  # the type the file names, to the one this target has
    note: str = ""  # goes behind the description
    bounds: Mapping[str, float] = field(default_factory=dict)  # of the tolerance, where its hardware cannot keep them

    @property
    def mark(self) -> bytes:
        """The target's part of the task's digest; empty where the computation is that of the file."""
        changes: dict[str, str | float] = {**self.dtypes, **self.bounds}
        return json.dumps(changes, sort_keys=True).encode() if changes else b""

    def typed(self, specs: tuple[Spec, ...]) -> tuple[Spec, ...]:
        """Return the tensors or scalars with this target's types."""
        return tuple(replace(s, dtype=self.dtypes.get(s.dtype, s.dtype)) for s in specs)

    def described(self, text: str) -> str:
        """Return the description with this target's types, and the note behind it."""
        for old, new in self.dtypes.items():
            text = re.sub(rf"\b{old}\b", new, text)
        return f"{text}\n{self.note}" if self.note else text


@dataclass(frozen=True)
class Manifest:
    """The content of a task.toml, checked, and its changes for targets."""

    statement: Statement
    adaptations: Mapping[str, Adaptation]

    def adapted(self, target: str) -> tuple[Statement, bytes]:
        """Return the statement for a target, and the target's part of the task's digest."""
        plain, change = self.statement, self.adaptations.get(target, Adaptation())
        return replace(
            plain,
            inputs=change.typed(plain.inputs),
            outputs=change.typed(plain.outputs),
            scalars=change.typed(plain.scalars),
            description=change.described(plain.description),
            tolerance=replace(plain.tolerance, **change.bounds),
        ), change.mark


def read_manifest(path: Path, text: str) -> Manifest:
    """Parse and check the text of a task.toml; `path` is for messages only."""
    read = toml_process().read(text)
    if error := read.get("error"):
        raise TaskError(f"{path}: is not valid TOML: {error}")
    root = Table(path, "", read["table"])
    work = root.table("work", True)
    inputs, scalars = read_inputs(root.tables("input")), read_scalars(root.table("scalars", False))
    outputs = read_outputs(root.tables("output"), inputs)
    _check_scalars(root, scalars, (*inputs, *outputs))
    tests = read_cases(root.tables("test"), "test", scalars, inputs)
    benchmarks = read_cases(root.tables("benchmark"), "benchmark", scalars, inputs)
    statement = Statement(
        name=root.name("name"),
        title=root.text("title"),
        description=root.text("description"),
        targets=root.strings("targets"),
        inputs=inputs,
        outputs=outputs,
        scalars=scalars,
        tests=tests,
        benchmarks=benchmarks,
        flops=work.text("flops"),
        bytes_moved=work.text("bytes"),
        peak=work.name("peak") if "peak" in work.left else "fp32_vector",
        tolerance=read_tolerance(root.table("tolerance", True)),
        multiples=_multiples(root.table("dims", False), tests[0].dims),
        variant_names=root.strings("variants") if "variants" in root.left else (),
        wide=root.strings("wide") if "wide" in root.left else (),
        provenance=_origin(root.table("origin", False)) if "origin" in root.left else None,
        golden=_golden(root.table("golden", False)) if "golden" in root.left else None,
        mix=root.truth("mix", not any(t.dtype in INTEGERS or t.structure for t in inputs)),
    )
    if unknown := set(statement.wide) - set(statement.variant_names):
        root.wrong("wide", f"names {min(unknown)!r}, which is none of the variants")
    statement = replace(statement, plant=_plant(root, statement))
    if statement.golden is not None and (statement.mix or statement.plant):
        root.fail("[golden] has answers for whole draws alone: it needs mix = false and plant = []")
    adaptations = _adaptations(root.table("target", False))
    for table in (work, root):
        table.close()
    _check_dims(root, statement)
    _check_names(root, statement)
    _check_adaptations(root, statement, adaptations)
    _check_expressions(root, statement)
    return Manifest(statement, adaptations)


def _plant(root: Table, statement: Statement) -> tuple[str, ...]:
    """List the inputs that may hold other values than are drawn: all real ones, where values do not belong together."""
    plain = [spec for spec in statement.inputs if not spec.structure]
    real = [spec.name for spec in plain if spec.dtype not in INTEGERS]
    if "plant" not in root.left:
        return tuple(real) if statement.mix else ()
    names = root.strings("plant", 0)
    if unknown := set(names) - {spec.name for spec in plain}:
        root.wrong("plant", f"names {min(unknown)!r}, which is no input without a structure")
    return names


def _origin(table: Table) -> Origin:
    names = ("form", "commit", "licence", "digest", "file", "frozen", "parameters")
    origin = Origin(table.text("source"), **{name: table.text(name) for name in names if name in table.left})
    table.close()
    return origin


def _golden(table: Table) -> Golden:
    golden = Golden(table.integer("draws", 2, MOST_DRAWS), table.text("digest"))
    table.close()
    return golden


def _multiples(table: Table, dims: Mapping[str, int]) -> dict[str, int]:
    result = {}
    for name in list(table.left):
        if name not in dims:
            table.wrong(name, f"is no dim of this task; its dims are {', '.join(dims)}")
        item = Table(table.path, f"[dims] {name}:", table.take(name))
        result[name] = item.integer("multiple", 1, INT32)
        item.close()
    return result


def _adaptations(table: Table) -> dict[str, Adaptation]:
    adaptations = {}
    for name in list(table.left):
        target = Table(table.path, f"[target.{name}]", table.take(name))
        types = Table(table.path, f"[target.{name}] dtypes", target.take("dtypes", {}))
        dtypes = {old: types.choice(old, DTYPES) for old in list(types.left)}
        bounds = {key: target.number(key, 0.0, inclusive=True) for key in BOUNDS if key in target.left}
        adaptations[name] = Adaptation(dtypes, target.text("note") if "note" in target.left else "", bounds)
        target.close()
    return adaptations


def _check_adaptations(root: Table, statement: Statement, adaptations: Mapping[str, Adaptation]) -> None:
    used = {t.dtype for t in statement.inputs + statement.outputs} | {s.dtype for s in statement.scalars}
    for name, adaptation in adaptations.items():
        if name not in statement.targets:
            root.fail(f"[target.{name}] is for a target that 'targets' does not list")
        for old, new in adaptation.dtypes.items():
            if old not in used:
                root.fail(f"[target.{name}] field 'dtypes' replaces {old}, which no tensor or scalar has")
            if size_bytes(old) != size_bytes(new) or (old in INTEGERS) != (new in INTEGERS):
                root.fail(f"[target.{name}] field 'dtypes' replaces {old} by {new}, a type of another kind or size")


def _check_dims(root: Table, statement: Statement) -> None:
    dims = tuple(statement.tests[0].dims)
    for case in statement.tests + statement.benchmarks:
        if tuple(case.dims) != dims:
            root.fail(f"the {case.role} case {case.name} must have the dims {', '.join(dims)} in this order")
        for name, multiple in statement.multiples.items():
            if case.dims[name] % multiple:
                root.fail(f"the {case.role} case {case.name} breaks [dims]: {name} must be a multiple of {multiple}")


def _check_scalars(root: Table, scalars: Sequence[ScalarSpec], tensors: Sequence[TensorSpec]) -> None:
    sizes = {name for tensor in tensors for text in tensor.shape for name in names_in(text)}
    for spec in scalars:
        if spec.name in sizes:
            root.fail(f"the name {spec.name!r} is used more than once among inputs, outputs, scalars and dims")


def _check_names(root: Table, statement: Statement) -> None:
    names = [t.name for t in statement.inputs + statement.outputs] + [s.name for s in statement.scalars]
    names += statement.tests[0].dims
    for name in names:
        if names.count(name) > 1:
            root.fail(f"the name {name!r} is used more than once among inputs, outputs, scalars and dims")


def _check_expressions(root: Table, statement: Statement) -> None:
    expressions = [("[work] field 'flops'", statement.flops, 0), ("[work] field 'bytes'", statement.bytes_moved, 1)]
    for tensor in statement.inputs + statement.outputs:
        expressions += [(f"the shape of {tensor.name!r}", text, 1) for text in tensor.shape]
        expressions += [(f"the strides of {tensor.name!r}", text, 0) for text in tensor.strides]
    for label, text, low in expressions:
        unknown = names_in(text) - set(statement.tests[0].dims)
        if unknown:
            root.fail(f"{label} uses {', '.join(sorted(unknown))}, which is no dim of the cases")
        for case in statement.tests + statement.benchmarks:
            try:
                value = evaluate(text, case.dims)
            except PlanError as error:
                root.fail(f"{label}: {error}")
            if value < low:
                root.fail(f"{label} is {value} for the case {case.name}; it must be at least {low}")
