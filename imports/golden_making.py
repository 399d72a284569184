"""Makes a task of recorded answers: the function runs on a few draws of each case, and what it gives is kept.

For functions that cannot be traced. In the import's own process only.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from imports.fitting import Fitting
from imports.golden_text import readme_text, recorded_text, reference_text, with_golden
from imports.graph import Graph, Tensor
from imports.live_function import LiveFunction, observed
from imports.making import COST, ImportOutcome, ImportRequest
from imports.manifest_text import Shapes, manifest_text
from imports.numpy_text import LAWS
from imports.refusal import ImportRefused
from imports.route import Trials
from imports.sizing import Sizing, listed_dims, sized
from imports.source_file import TorchSource
from records.errors import TaskError
from tasks.linter import lint
from tasks.loader import load_task
from tasks.recorded import FILE, MOST_BYTES, Draw, archive, key_of
from tasks.task import Case, Task

DRAWS = 8
Dims = Mapping[str, int]


def make_golden(request: ImportRequest, folder: Path) -> ImportOutcome:
    """Write task.toml, reference.py, golden.npz, README.md and the original; ImportRefused says why not."""
    source = _source(request)
    original = source.constants()
    sizing, configs = _sizes(request, original)
    observations = [observed(source.build({**original, **constants})) for constants in configs]
    graph = _graph(configs if sizing is None else sizing.configs(np.random.default_rng(0)), observations)
    shapes = _cases(graph, sizing, original)
    live = LiveFunction(source, original, sizing, graph)
    statement = f"golden: the answers of {DRAWS} recorded draws of each case"
    task, law = _sound(request, folder, graph, shapes, live, observations[0].ranges, statement)
    data = _recorded(task, live)
    if len(data) > MOST_BYTES:
        raise ImportRefused(f"its answers take {len(data) >> 20} MiB, and a task keeps at most {MOST_BYTES >> 20}")
    (folder / FILE).write_bytes(data)
    manifest = folder / "task.toml"
    text = with_golden(manifest.read_text(encoding="utf-8"), DRAWS, hashlib.sha256(data).hexdigest())
    manifest.write_text(text, encoding="utf-8")
    (folder / "README.md").write_text(readme_text(request.title, DRAWS, [c.name for c in task.tests]), encoding="utf-8")
    problems = lint(load_task(folder))
    if problems:
        raise ImportRefused(f"what was recorded of it makes no task: {problems[0]}")
    other_sizes = {} if sizing is None else {**{n: str(v) for n, v in sizing.fixed.items()}, **sizing.followers}
    weaker = "a kernel could recognise these inputs, and no other ones are judged"
    return ImportOutcome((f"{statement}; {weaker}", law), False, tuple(source.arguments()), other_sizes)


def _source(request: ImportRequest) -> TorchSource:
    source = request.route.source
    assert isinstance(source, TorchSource)
    return source


def _sizes(request: ImportRequest, original: Dims) -> tuple[Sizing | None, list[Dims]]:
    """Find the sizes that may change, and constants to look at; the file's own where none can."""
    if not original:
        raise ImportRefused(
            "its sizes have no names: write them as constants at the top of the file (rows = 4096), or give --input "
            "and --size"
        )
    tried = Trials(request.route, original)
    try:
        sizing = sized(original, tried)
    except ImportRefused:
        if not tried(original):
            raise ImportRefused(f"it does not run: {tried.error}") from None
        return None, [original]
    return sizing, [sizing.constants(dims) for dims in sizing.configs(np.random.default_rng(0))]


def _graph(dims: Sequence[Dims], observations: Sequence[Any]) -> Graph:
    """Make a graph of inputs and outputs with their shapes over the dims, and no operations."""
    fitting = Fitting(dims)

    def shape(tensors: Sequence[Tensor]) -> tuple[Any, ...]:
        extents = [fitting.integer([int(t.shape[axis]) for t in tensors]) for axis in range(len(tensors[0].shape))]
        if None in extents:
            raise ImportRefused(f"the shape of {tensors[0].name} follows from its sizes in no simple way")
        return tuple(extents)

    if any(
        [t.name for t in observation.tensors] != [t.name for t in observations[0].tensors]
        for observation in observations
    ):
        raise ImportRefused("its inputs and results change with its sizes")
    rows = [
        replace(row[0], shape=shape(row))
        for row in zip(*(observation.tensors for observation in observations), strict=True)
    ]
    count = observations[0].inputs
    return Graph(tuple(rows[:count]), (), tuple((t, "") for t in rows[count:]))


def _bytes(graph: Graph, dims: Dims) -> float:
    """Bytes of the answers of all draws of a case."""
    from imports.fitting import value_of

    return sum(16.0 * DRAWS * math.prod(value_of(s, dims) for s in spec.shape) for spec, _ in graph.outputs)


def _cases(graph: Graph, sizing: Sizing | None, original: Dims) -> Shapes:
    if sizing is None:
        return Shapes([dict(original)], [dict(original)], {}, {})

    def cost(dims: Mapping[str, int]) -> float:
        from imports.fitting import value_of

        specs = [*graph.inputs, *(spec for spec, _ in graph.outputs)]
        return float(sum(8 * math.prod(value_of(s, dims) for s in spec.shape) for spec in specs))

    tests = listed_dims(sizing, cost, COST / 16)
    largest = {n: original[n] for n in sizing.base}
    while _bytes(graph, largest) > MOST_BYTES / 2 and any(largest[n] > sizing.base[n] for n in largest):
        largest = {n: max(sizing.base[n], v // 2 // sizing.steps[n] * sizing.steps[n]) for n, v in largest.items()}
    return Shapes(tests, [largest], {n: s for n, s in sizing.steps.items() if s > 1}, {})


def _sound(
    request: ImportRequest,
    folder: Path,
    graph: Graph,
    shapes: Shapes,
    live: LiveFunction,
    ranges: Mapping[str, tuple[float, float]],
    statement: str,
) -> tuple[Task, str]:
    """Make the task with the first law of inputs in which the linter finds no fault, asked of the function itself."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"original{Path(request.origin.source).suffix or '.py'}"
    (folder / name).write_text(request.route.source.original(), encoding="utf-8")
    origin, problems = replace(request.origin, file=name), tuple[str, ...]()
    dims = list(shapes.tests[0])
    cases = [{n: int(v) for n, v in case.items()} for case in (*shapes.tests, *shapes.benchmarks)]
    (folder / FILE).write_bytes(archive((), live.starts(cases)))
    for law in LAWS:
        text = manifest_text(request.name, request.title, graph, shapes, origin, [], None)
        text = recorded_text(text, f"{request.title}. {statement}.", request.route.source.text)
        (folder / "task.toml").write_text(text, encoding="utf-8")
        (folder / "reference.py").write_text(reference_text(request.title, graph, dims, law, ranges, DRAWS))
        try:
            loaded = load_task(folder)
        except TaskError as error:
            raise ImportRefused(str(error).replace(f"{folder.resolve()}/", "")) from None
        task = replace(loaded, reference=live.reference, baseline=live.baseline)
        findings = lint(task)
        if not findings:
            return task, f"inputs are drawn as {law} ones"
        problems = problems or findings
    raise ImportRefused(f"it makes a task that could not tell right kernels from wrong ones: {problems[0]}")


def _recorded(task: Task, live: LiveFunction) -> bytes:
    draws, cases = dict[str, Draw](), {c.name: c for c in (*task.tests, *task.benchmarks)}
    for case in cases.values():
        for seed in range(DRAWS):
            drawn: Case = replace(case, seed=seed)
            inputs = task.draw(drawn)
            key = key_of(inputs, drawn)
            answers = {"reference": live.reference(inputs, drawn), "baseline": live.baseline(inputs, drawn)}
            draws[key] = Draw(key, answers)
    return archive(draws.values(), live.starts([dict(case.dims) for case in cases.values()]))
