"""Makes a task folder of a PyTorch or NumPy file. Runs in a confined process of its own, with PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from app.imports import traced_graph
from app.imports.differential import refuse_difference
from app.imports.drawing import drawn_graph, structured
from app.imports.fitting import Fitting
from app.imports.graph import Graph
from app.imports.hip_text import seed_text
from app.imports.manifest_text import Shapes, flops, manifest_text, moved
from app.imports.names import is_reserved
from app.imports.numpy_text import LAWS, SAID, reference_text
from app.imports.refusal import FAULTS, ImportDiffers, ImportRefused
from app.imports.sizing import Sizing, listed_dims, sized
from app.imports.source_file import Instance, Source
from records.errors import TaskError
from tasks.expressions import evaluate
from tasks.linter import lint
from tasks.loader import load_task
from tasks.origin import Origin

FITS = 3  # times that expressions are fitted to sizes
COST = 2.0**22  # operations plus bytes of the largest test


@dataclass(frozen=True)
class Wanted:
    """A request: the source, and what the folder is to say of it."""

    name: str
    title: str
    source: Source
    origin: Origin
    gate: tuple[float, float] | None = None


@dataclass(frozen=True)
class Made:
    """The outcome of an import; `notes` are sentences about the task."""

    notes: tuple[str, ...]
    has_seed: bool


def make(wanted: Wanted, folder: Path) -> Made:
    """Write task.toml, reference.py, the original and, where possible, seed.hip; ImportRefused says why not."""
    source = wanted.source
    original = source.constants()
    tried = _Trials(source, original)
    try:
        sizing = sized(original, tried)
    except ImportRefused:
        if tried.error and not tried.has_run:
            raise ImportRefused(f"it does not run: {tried.error}") from None
        raise
    graph, drawn = _graphs(source, sizing, original)
    dims = list(sizing.base)
    _refuse_clashes(graph, dims)
    shapes = _shapes(graph, sizing, original)
    notes = [*graph.notes, *_said(sizing, original)]
    seed, why = _seed(graph, dims)
    notes += [why] if why else []
    law, gate, problems = _lawful(wanted, graph, drawn, dims, shapes, notes, folder)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise ImportRefused(f"it makes a task that could not tell right kernels from wrong ones: {problems[0]}{more}")
    if seed:
        (folder / "seed.hip").write_text(seed, encoding="utf-8")
    return Made(
        (
            *notes,
            SAID[law],
            *(
                ()
                if gate or not wanted.gate
                else ("the original's tolerance does not fit its results and is left out",)
            ),
        ),
        bool(seed),
    )


@dataclass
class _Trials:
    """Runs of the function under some constants: True where it comes to its end."""

    source: Source
    original: Mapping[str, int]
    error: str = ""  # of the last run that failed
    has_run: bool = False

    def __call__(self, constants: Mapping[str, int]) -> bool:
        """True where it runs; ImportRefused where it never can."""
        try:
            _called(self.source.build({**self.original, **constants}))
        except FAULTS as error:
            self.error = _short(error)
            if isinstance(error, OSError):
                self.error += "; a file is imported without network and without files of yours"
            return False
        self.has_run = True
        return True


def _called(instance: Instance) -> list[torch.Tensor]:
    """The outputs, twice the same; ImportRefused where they are not."""
    with torch.no_grad():
        state = {n: t.clone() for n, t in instance.state.items()}
        one, two = (_tensors(instance.call(state, _copied(instance.arguments))) for _ in range(2))
    if [t.shape for t in one] != [t.shape for t in two]:
        raise ImportRefused(
            f"it returns other shapes on a second call ({tuple(one[0].shape)}, then {tuple(two[0].shape)}), so its "
            "result does not follow from its inputs"
        )
    return one


def _copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.clone() if isinstance(a, torch.Tensor) else a for a in arguments)


def _tensors(made: Any) -> list[torch.Tensor]:
    values = (
        list(made.values()) if isinstance(made, dict) else list(made) if isinstance(made, (tuple, list)) else [made]
    )
    if not values or not all(isinstance(v, torch.Tensor) for v in values):
        raise ImportRefused(f"it returns {type(made).__name__}, where tensors are expected")
    return values


def _graphs(source: Source, sizing: Sizing, original: Mapping[str, int]) -> tuple[Graph, Graph | None]:
    """The graph of the function and that of its inputs, checked against PyTorch in double precision.

    An expression that fits the sizes that were seen may fail at others; then it is fitted again, to those too.
    """
    rng = np.random.default_rng(0)
    configs = sizing.configs(rng)
    for left in reversed(range(FITS)):
        graph, drawn = _fitted(configs, [_built(source, sizing, original, config) for config in configs])
        unseen = sizing.unseen(rng)
        try:
            for config in unseen:
                refuse_difference(graph, drawn, _built(source, sizing, original, config), config)
            break
        except ImportDiffers:
            if not left:
                raise
            configs = [*configs, *unseen]
    return graph, drawn


def _fitted(configs: Sequence[Mapping[str, int]], instances: Sequence[Instance]) -> tuple[Graph, Graph | None]:
    traces, fitting = [], Fitting(configs)
    for config, instance in zip(configs, instances, strict=True):
        try:
            traces.append(traced_graph.trace(instance, config))
        except FAULTS as error:
            raise ImportRefused(f"it does not run for {_named(config)}: {_short(error)}") from None
    if any(t.key != traces[0].key for t in traces):
        raise ImportRefused("its operations change with its sizes, so one graph cannot stand for all")
    graph = traced_graph.unified(traces, fitting)
    drawn = drawn_graph(instances, fitting, {t.name for t in graph.inputs})
    return graph if drawn is None else structured(graph, instances), drawn


def _built(source: Source, sizing: Sizing, original: Mapping[str, int], config: Mapping[str, int]) -> Instance:
    try:
        return source.build({**original, **sizing.constants(config)})
    except FAULTS as error:
        raise ImportRefused(f"it does not run for {_named(config)}: {_short(error)}") from None


def _refuse_clashes(graph: Graph, dims: Sequence[str]) -> None:
    for name in filter(is_reserved, dims):
        raise ImportRefused(f"the name {name!r} of a size is a word of C++ or of the reference; rename it")
    names = [t.name for t in graph.inputs] + [spec.name for spec, _ in graph.outputs] + list(dims)
    for name in names:
        if names.count(name) > 1:
            raise ImportRefused(f"the name {name!r} stands for a size and for an input; rename one of them")


def _shapes(graph: Graph, sizing: Sizing, original: Mapping[str, int]) -> Shapes:
    work, traffic = flops(graph), moved(graph)

    def cost(dims: Mapping[str, int]) -> float:
        return float(evaluate(work, dims) + evaluate(traffic, dims))

    benchmark = {name: original[name] for name in sizing.base}
    return Shapes(listed_dims(sizing, cost, COST), benchmark, {n: s for n, s in sizing.steps.items() if s > 1})


def _said(sizing: Sizing, original: Mapping[str, int]) -> list[str]:
    notes = [f"{follower} is {name}" for follower, name in sizing.followers.items()]
    return notes + [f"{name} is always {value}" for name, value in sizing.fixed.items()]


def _seed(graph: Graph, dims: Sequence[str]) -> tuple[str, str]:
    try:
        return seed_text(graph, dims), ""
    except ImportRefused as error:
        return "", f"no seed was generated: {error}"


def _lawful(
    wanted: Wanted,
    graph: Graph,
    drawn: Graph | None,
    dims: Sequence[str],
    shapes: Shapes,
    notes: Sequence[str],
    folder: Path,
) -> tuple[str, tuple[float, float] | None, tuple[str, ...]]:
    """Write the folder with the first law of inputs and the tolerance that the linter finds no fault with."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"original{Path(wanted.origin.source).suffix or '.py'}"
    (folder / name).write_text(wanted.source.text, encoding="utf-8")
    origin = replace(wanted.origin, file=name)
    least: tuple[str, tuple[float, float] | None, tuple[str, ...]] | None = None
    for law in LAWS:
        (folder / "reference.py").write_text(reference_text(graph, drawn, dims, law, wanted.title), encoding="utf-8")
        for gate in [wanted.gate, None] if wanted.gate else [None]:
            text = manifest_text(wanted.name, wanted.title, graph, shapes, origin, [*notes, SAID[law]], gate)
            (folder / "task.toml").write_text(text, encoding="utf-8")
            problems = _problems(folder)
            if not problems:
                return law, gate, ()
            if least is None or len(problems) <= len(least[2]):
                least = law, gate, problems
    assert least is not None
    return least


def _problems(folder: Path) -> tuple[str, ...]:
    try:
        return lint(load_task(folder))
    except TaskError as error:
        return (str(error).replace(f"{folder}/", ""),)


def _named(config: Mapping[str, int]) -> str:
    return ", ".join(f"{n} = {v}" for n, v in config.items())


def _short(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
