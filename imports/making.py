"""Makes a task folder of a PyTorch or NumPy file. Runs in a confined process of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from imports.generated_seeds import generated_seeds
from imports.graph import Graph
from imports.listed_cases import varied
from imports.manifest_text import Shapes, flops, manifest_text, moved
from imports.names import is_plain, is_reserved
from imports.numpy_text import LAWS
from imports.refusal import ImportRefused, ImportUnfitted, ImportUnrolled
from imports.route import Followed, Route, Trials
from imports.sizing import MOST_FIXED, Sizing, common, listed_dims, sized
from imports.summing_order import NARROW, ratio_of
from records.errors import TaskError
from tasks.dtypes import size_bytes
from tasks.expressions import evaluate
from tasks.linter import lint
from tasks.loader import load_task
from tasks.origin import Origin

COST = 2.0**22  # operations plus bytes of the largest test
MOST_UNROLLED, MOST_BOUND = 64, 1024  # steps of a loop that is written out, a size that others may not exceed
MOST_HELD = 3  # sizes that are tried as the one that cannot change
MOST_OWN_BYTES = 8 << 30  # of weights: KernelBench has some of 4 GiB
MOST_SECONDS = 0.05  # of one execution of a test whose operations are not known: the linter asks for hundreds


@dataclass(frozen=True)
class ImportRequest:
    """A request: the source, and what the folder is to say of it."""

    name: str
    title: str
    route: Route
    origin: Origin
    gate: tuple[float, float] | None = None


@dataclass(frozen=True)
class ImportOutcome:
    """The outcome of an import; `notes` are sentences about the task."""

    notes: tuple[str, ...]
    has_seed: bool
    arguments: tuple[str, ...] = ()  # of a call, where their order matters to an export
    other_sizes: Mapping[str, str] = field(default_factory=dict)  # sizes of the source that are no dims, over the dims


def make(request: ImportRequest, folder: Path) -> ImportOutcome:
    """Write task.toml, reference.py, the original and, where possible, seed.hip; ImportRefused says why not."""
    source = request.route.source
    original = source.constants()
    tried = Trials(request.route, original)
    try:
        sizing, followed = _followed(request.route, original, tried)
    except ImportRefused:
        if tried.error and not tried.has_run:
            raise ImportRefused(f"it does not run: {tried.error}") from None
        raise
    graph, dims = followed.graph, list(sizing.base)
    _refuse_clashes(graph, dims)
    shapes, left = _shapes(request.route, followed, sizing)
    _refuse_heavy(graph, shapes)
    seeds, reasons = generated_seeds(followed, dims, shapes)
    notes = [*graph.notes, *_size_notes(sizing), *source.notes(), *left, *reasons]
    law, gate, problems = _lawful(request, followed, sizing, shapes, notes, folder)
    if problems:
        raise ImportRefused(problems[0] + (f" (and {len(problems) - 1} more)" if problems[1:] else ""))
    for name, text in seeds.items():
        (folder / name).write_text(text, encoding="utf-8")
    has_lost_gate = not gate and bool(request.gate or source.gate())
    lost = ("the original's tolerance does not fit its results and is left out",) if has_lost_gate else ()
    return ImportOutcome(
        (*notes, request.route.said(law, followed), *lost),
        bool(seeds),
        tuple(source.arguments()),
        {**{n: str(v) for n, v in sizing.fixed.items()}, **sizing.followers},
    )


def _followed(route: Route, original: Mapping[str, int], tried: Trials) -> tuple[Sizing, Followed]:
    """Follow it under sizes that it fits: any, or the listed cases' steps, or those with what all cases share."""
    source = route.source
    listed = source.cases()
    attempts: list[tuple[Mapping[str, int] | None, list[str], int]] = [(None, [], 1)]
    if listed:
        shared = [n for n in original if len({case[n] for case in listed}) == 1 and original[n] <= MOST_FIXED]
        attempts.append((common([*listed, *source.tests()], original), [], 1))
        for held_sizes in [*([n] for n in sorted(shared, key=lambda n: original[n])[:MOST_HELD]), shared]:
            alike = [case for case in source.tests() if all(case[n] == original[n] for n in held_sizes)]
            attempts.append((common([*listed, *alike], original), held_sizes, 1))
    first: ImportUnfitted | None = None
    free: Sizing | None = None
    for steps, held_sizes, least in attempts:
        if not held_sizes and steps is not None and max(steps.values()) == 1:
            continue
        try:
            sizing = sized(original, tried, steps, held_sizes, least=least)
            _refuse_names(list(sizing.base))
            free = free or sizing
            followed = route.followed(sizing, original)
        except ImportUnfitted as error:
            first = first or error
            if not held_sizes and least == 1 and (steps or not listed):
                attempts += _other_ways(error, steps, original)
            elif steps is None and len(held_sizes) < MOST_HELD:  # as both extents of a window
                small = [n for n in error.sizes if n not in held_sizes and original[n] <= MOST_UNROLLED]
                attempts += [(None, [*held_sizes, n], 1) for n in small[:1]]
        except ImportRefused as error:
            if first is None:
                if free is None:
                    raise
                return free, route.unfollowed(free, original, error)
        else:
            return sizing, followed
    assert first is not None
    if free is None:
        raise first
    return free, route.unfollowed(free, original, first)


def _other_ways(
    error: ImportUnfitted, steps: Mapping[str, int] | None, original: Mapping[str, int]
) -> list[tuple[Mapping[str, int] | None, list[str], int]]:
    """With a size kept that alone decides what did not fit; of listed cases, without sizes of one step or odd steps."""
    is_unrolled = isinstance(error, ImportUnrolled)
    if steps is None:
        most = MOST_UNROLLED if is_unrolled else MOST_FIXED
        candidates = [n for n in error.sizes[:MOST_HELD] if original[n] <= most]
        bounds = sorted((n for n in original if original[n] <= MOST_BOUND), key=lambda n: original[n])
        return [(None, [n], 1) for n in dict.fromkeys([*candidates, *bounds[-1:]])]
    doubled = [{**steps, n: 2 * steps[n]} for n in steps if original[n] % (2 * steps[n]) == 0]
    return [(choice, [], 2) for choice in (steps, *doubled)] if is_unrolled else []


def _refuse_heavy(graph: Graph, shapes: Shapes) -> None:
    """Refuse weights that are heavy at the file's own sizes, however light those of the trials are."""
    weights = [t for t in graph.inputs if t.parameter]
    for case in shapes.benchmarks:
        dims = {name: int(value) for name, value in case.items()}
        lengths = (size_bytes(t.dtype) * math.prod(int(evaluate(str(e), dims)) for e in t.shape) for t in weights)
        if sum(lengths) > MOST_OWN_BYTES:
            raise ImportRefused(f"its weights take more than {MOST_OWN_BYTES >> 30} GiB at its own sizes")


def _refuse_names(dims: Sequence[str]) -> None:
    for name in dims:
        if is_reserved(name):
            raise ImportRefused(f"the name {name!r} of a size is a word of C++ or of the reference; rename it")
        if not is_plain(name):
            raise ImportRefused(f"the name {name!r} of a size has letters that C++ and TOML do not take; rename it")


def _refuse_clashes(graph: Graph, dims: Sequence[str]) -> None:
    names = [t.name for t in graph.inputs] + [spec.name for spec, _ in graph.outputs] + list(dims)
    for name in names:
        if not is_plain(name):
            raise ImportRefused(f"the name {name!r} has letters that C++ and TOML do not take; rename it")
        if names.count(name) > 1:
            raise ImportRefused(f"the name {name!r} stands for a size and for an input; rename one of them")


def _shapes(route: Route, followed: Followed, sizing: Sizing) -> tuple[Shapes, list[str]]:
    """List the cases of the task, and a note where some of the source's are none."""
    source, graph, scalars = route.source, followed.graph, followed.scalars
    work, traffic, limits = flops(graph), moved(graph), source.limits()

    def cost(dims: Mapping[str, int]) -> float:
        if any(value > limits.get(name, value) for name, value in dims.items()):
            return COST + 1
        if not graph.nodes and route.seconds(sizing, dims) > MOST_SECONDS:
            return COST + 1
        return float(evaluate(work, dims) + evaluate(traffic, dims))

    original, listed_cases = source.constants(), source.cases()
    listed_weights = source.weights() or [1.0] * len(listed_cases)
    pairs = [(c, w) for c, w in zip(listed_cases, listed_weights, strict=True) if sizing.admits(c)]
    fitting = pairs if listed_cases else [(original, 1.0)]
    weights = dict[tuple[tuple[str, float], ...], float]()
    for case, weight in fitting:
        key = tuple((n, v) for n, v in case.items() if n in sizing.base or n in scalars)
        weights[key] = weights.get(key, 0.0) + weight
    benchmarks = [dict(key) for key in weights]
    small = [
        {n: v for n, v in case.items() if n in sizing.base or n in scalars}
        for case in source.tests()
        if sizing.admits(case) and cost({n: int(case[n]) for n in sizing.base}) <= COST
    ]
    chosen = [{**dims, **varied(scalars, i)} for i, dims in enumerate(listed_dims(sizing, cost, COST))]
    tests = list({tuple(c.items()): c for c in [*chosen, *small]}.values())
    left = [f"{len(listed_cases) - len(fitting)} of its cases are left out, whose sizes others here cannot have"]
    steps = {n: s for n, s in sizing.steps.items() if s > 1}
    is_weighted = bool(source.weights()) and len(benchmarks) > 1
    shapes = Shapes(tests, benchmarks, steps, scalars, list(weights.values()) if is_weighted else ())
    return shapes, left if len(fitting) < len(listed_cases) else []


def _size_notes(sizing: Sizing) -> list[str]:
    notes = [f"{follower} is {name}" for follower, name in sizing.followers.items()]
    return notes + [f"{name} is always {value}" for name, value in sizing.fixed.items()]


def _lawful(
    request: ImportRequest, followed: Followed, sizing: Sizing, shapes: Shapes, notes: Sequence[str], folder: Path
) -> tuple[str, tuple[float, float] | None, tuple[str, ...]]:
    """Write the folder with the first law of inputs and the tolerance that the linter finds no fault with."""
    folder.mkdir(parents=True, exist_ok=True)
    route = request.route
    theirs = request.gate or route.source.gate()
    name = f"original{Path(request.origin.source).suffix or '.py'}"
    (folder / name).write_text(route.source.original(), encoding="utf-8")
    origin = replace(request.origin, file=name)
    unplanted = route.unplanted(followed, sizing)
    without = [
        f"{n} holds no planted zeros: it makes whole numbers of 0 / 0, which are others on each machine"
        for n in unplanted
    ]
    least: tuple[str, tuple[float, float] | None, tuple[str, ...]] | None = None
    for law in LAWS:
        text = route.reference_text(followed, sizing, law, request.title)
        (folder / "reference.py").write_text(text, encoding="utf-8")
        for gate in [theirs, None] if theirs else [None]:
            said = [*notes, *without, route.said(law, followed), route.statement]
            text = manifest_text(request.name, request.title, followed.graph, shapes, origin, said, gate, unplanted)
            (folder / "task.toml").write_text(text, encoding="utf-8")
            problems = _problems(folder)
            if not problems:
                _widen(folder)
                return law, gate, ()
            if least is None or len(problems) <= len(least[2]):
                least = law, gate, problems
    assert least is not None
    return least


def _widen(folder: Path) -> None:
    """Allow sums in any order, unless the linter then finds a shortcut that passes."""
    path = folder / "task.toml"
    narrow = path.read_text(encoding="utf-8")
    ratio = ratio_of(load_task(folder))
    while ratio > NARROW:
        path.write_text(narrow.replace(f"\nratio = {NARROW}\n", f"\nratio = {ratio}\n"), encoding="utf-8")
        if not _problems(folder):
            return
        ratio /= 2
    path.write_text(narrow, encoding="utf-8")


def _problems(folder: Path) -> tuple[str, ...]:
    try:
        faults = lint(load_task(folder))
    except TaskError as error:
        return (f"it makes no task: {str(error).replace(f'{folder.resolve()}/', '')}",)
    return tuple(f"it makes a task that could not tell right kernels from wrong ones: {fault}" for fault in faults)
