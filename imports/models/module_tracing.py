"""A module as graphs of operators, without memory for its tensors where that can be. In the scan's own process only.

Tried in turn: torch.export without values; a trace with the tape, for modules that take their own gradients; both with
values; at last the graphs between what cannot be followed, as torch.compile finds them.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx

from imports.models.graph_writing import WEIGHT, GraphWriter, role_table
from imports.models.module_source import ModuleSource, OpenedModel
from imports.models.operator_graph import CUSTOM, DYNAMIC, OperatorGraph, TracedModel
from imports.refusal import FAULTS, ImportRefused
from imports.results import results_of

MOST_GRAPHS = 200
UPDATES = ("slice_scatter", "select_scatter", "diagonal_scatter", "as_strided_scatter")  # stand for updates of views
DATA_DEPENDENT = ("data-dependent", "DataDependent", "_local_scalar_dense", "GuardOnDataDependentSymNode")
FRAME = re.compile(r"^\s*#? ?File \"?([^\",]+)\"?,? ?(?:line|:)? ?(\d+)", re.MULTILINE)
Tracer = Callable[[OpenedModel], tuple[OperatorGraph, ...]]


def traced_model(source: ModuleSource) -> TracedModel:
    """Follow the module; ImportRefused with the first reason where no way leads through it."""
    reasons, best = list[str](), None
    tracers: tuple[tuple[Tracer, bool], ...] = (
        (_exported, True),
        (_with_tape, True),
        (_exported, False),
        (_with_tape, False),
    )
    for tracer, is_fake in tracers:
        if best is not None and (is_fake or tracer is _with_tape):
            continue
        try:
            with FakeTensorMode(allow_non_fake_inputs=True) if is_fake else torch.no_grad():
                opened = source.opened()
                graphs = tracer(opened)
        except ImportRefused:
            raise
        except (*FAULTS, torch._dynamo.exc.TorchDynamoException) as error:
            reasons.append(reason_of(error, source.path))
            continue
        taped = [
            f"torch.export does not follow it ({reason}): its operators stand as they run" for reason in reasons[:1]
        ]
        best = TracedModel(opened.name, graphs, (*(taped if tracer is _with_tape else ()), *_notes(source, graphs)))
        if not _unsized(graphs):
            break
    if best is not None:
        return best
    opened = _built(source, reasons)
    graphs = _between_breaks(opened, source.path, reasons)
    broken_note = (
        f"{opened.name} is no single graph: {reasons[0]}; {len(graphs)} graphs of it were scanned by themselves"
    )
    return TracedModel(opened.name, graphs, (broken_note, *_notes(source, graphs)))


def traced_program(path: str) -> TracedModel:
    """Read a program that torch.export.save has written; ImportRefused for another file."""
    try:
        try:
            with FakeTensorMode(allow_non_fake_inputs=True):
                program = torch.export.load(path)
        except FAULTS:
            program = torch.export.load(path)
        graph = _written(program)
    except (*FAULTS, EOFError) as error:
        raise ImportRefused(f"it is no program of torch.export.save that this PyTorch reads: {_line(error)}") from None
    return TracedModel("program", (graph,), _dynamic_note((graph,)))


def _built(source: ModuleSource, reasons: list[str]) -> OpenedModel:
    try:
        return source.opened()
    except FAULTS as error:
        raise ImportRefused(f"{reasons[0]}, and it cannot run here: {reason_of(error, source.path)}") from None


def _exported(opened: OpenedModel) -> tuple[OperatorGraph, ...]:
    with torch.no_grad():
        return (
            _written(torch.export.export(opened.module, opened.arguments, dict(opened.keywords), strict=False), opened),
        )


def _written(program: Any, opened: OpenedModel | None = None) -> OperatorGraph:
    with torch.no_grad():
        program = program.run_decompositions({})
    roles = role_table(program)
    graph = GraphWriter().written(program.graph_module, roles)
    if opened is None or _is_fake(opened) or not any(DYNAMIC in node.traits for node in graph.nodes):
        return graph
    sizes = _sizes_met(program, opened)
    return GraphWriter(sizes=sizes).written(program.graph_module, roles) if sizes else graph


def _is_fake(opened: OpenedModel) -> bool:
    """Tell whether the module's tensors have no values."""
    tensors = (*opened.module.parameters(), *opened.arguments, *opened.keywords.values())
    return any(isinstance(t, torch._subclasses.fake_tensor.FakeTensor) for t in tensors)


def _sizes_met(program: Any, opened: OpenedModel) -> dict[str, Any]:
    """Run the program on its values, where it has some, for the sizes that depend on them."""
    sizes = dict[str, Any]()

    class Recorder(torch.fx.Interpreter):  # type: ignore[misc]
        def run_node(self, node: Any) -> Any:
            result = super().run_node(node)
            tensors = [v for v in (result if isinstance(result, (list, tuple)) else [result])]
            sizes[node.name] = tuple(
                (tuple(t.shape), tuple(t.stride())) for t in tensors if isinstance(t, torch.Tensor)
            )
            return result

    try:
        flat, _ = torch.utils._pytree.tree_flatten((opened.arguments, dict(opened.keywords)))
        state = {**program.state_dict, **program.constants}
        specs = program.graph_signature.input_specs
        user_values = iter(flat)
        values = [state[s.target] if s.target is not None else next(user_values) for s in specs]
        with torch.no_grad():
            Recorder(program.graph_module).run(*values)
    except (*FAULTS, StopIteration):
        return {}
    return sizes


def _with_tape(opened: OpenedModel) -> tuple[OperatorGraph, ...]:
    """ProfilerTrace what the module computes with the tape that it asks for, backward half included."""
    state = {**dict(opened.module.named_parameters()), **dict(opened.module.named_buffers())}
    names, tensors = list(state), [i for i, a in enumerate(opened.arguments) if isinstance(a, torch.Tensor)]

    def function(*values: Any) -> Any:
        arguments = list(opened.arguments)
        for index, value in zip(tensors, values[len(names) :], strict=True):
            arguments[index] = value
        weights = {n: v.detach().requires_grad_(state[n].requires_grad) for n, v in zip(names, values, strict=False)}
        with torch.enable_grad():
            result = torch.func.functional_call(opened.module, weights, tuple(arguments), dict(opened.keywords))
            return [t.detach() for t in results_of(result)]

    values = [*state.values(), *(opened.arguments[i] for i in tensors)]
    with_updates = make_fx(function)(*values)
    with torch.no_grad():
        traced = make_fx(functionalize(with_updates, remove="mutations"))(*values)
    traced.graph.eliminate_dead_code()
    holders = [n.name for n in traced.graph.nodes if n.op == "placeholder"]
    roles = {n: WEIGHT if i < len(names) else "" for i, n in enumerate(holders)}
    return (GraphWriter().written(traced, roles),)


def _between_breaks(opened: OpenedModel, path: str, reasons: list[str]) -> tuple[OperatorGraph, ...]:
    """Run the module once and collect the graphs that can be followed; ImportRefused where there is none."""
    pieces: list[tuple[Any, tuple[Any, ...]]] = []

    def collect(module: Any, arguments: Any) -> Any:
        pieces.append((module, tuple(arguments)))
        return module.forward

    torch._dynamo.reset()
    try:
        with torch.no_grad():
            torch._dynamo.optimize(collect, dynamic=False)(opened.module)(*opened.arguments, **opened.keywords)
    except (*FAULTS, torch._dynamo.exc.TorchDynamoException) as error:
        raise ImportRefused(_fault_of(opened, path) or reason_of(error, path)) from None
    graphs = list[OperatorGraph]()
    for number, (module, arguments) in enumerate(pieces[:MOST_GRAPHS]):
        try:
            with torch.no_grad():
                program = torch.export.export(module, arguments, strict=False).run_decompositions({})
        except (*FAULTS, torch._dynamo.exc.TorchDynamoException) as error:
            reasons.append(reason_of(error, path))
            continue
        graphs.append(GraphWriter(f"g{number}.").written(program.graph_module, _piece_roles(program, arguments)))
    if not any(graph.nodes for graph in graphs):
        raise ImportRefused(reasons[0])
    return tuple(graphs)


def _fault_of(opened: OpenedModel, path: str) -> str:
    """Say why the module does not run at all; empty where it does."""
    try:
        with torch.no_grad():
            opened.module(*opened.arguments, **opened.keywords)
    except FAULTS as error:
        return f"it does not run: {reason_of(error, path)}"
    return ""


def _piece_roles(program: Any, arguments: tuple[Any, ...]) -> dict[str, str]:
    """Give the roles of a piece's inputs, whose weights are arguments."""
    names = [spec.arg.name for spec in program.graph_signature.input_specs if spec.target is None]
    parameters = {n for n, a in zip(names, arguments, strict=False) if isinstance(a, torch.nn.Parameter)}
    return {**role_table(program), **dict.fromkeys(parameters, WEIGHT)}


TRACERS: tuple[tuple[Tracer, bool], ...] = tuple(
    (tracer, is_fake) for is_fake in (True, False) for tracer in (_exported, _with_tape)
)


def _notes(source: ModuleSource, graphs: tuple[OperatorGraph, ...]) -> tuple[str, ...]:
    unknown = {n.target for g in graphs for n in g.nodes if CUSTOM in n.traits}
    custom_notes = (f"{t} is an operator of the model's own: what it computes is not known" for t in sorted(unknown))
    updated = any(n.operator in UPDATES for g in graphs for n in g.nodes)
    update_note = ("in-place updates of views are shown as new values",) if updated else ()
    return (*custom_notes, *update_note, *_dynamic_note(graphs))


def _dynamic_note(graphs: tuple[OperatorGraph, ...]) -> tuple[str, ...]:
    count = _unsized(graphs)
    return (f"the sizes of {count} operators depend on values and are not counted",) if count else ()


def _unsized(graphs: tuple[OperatorGraph, ...]) -> int:
    """Count the operators of unknown size."""
    return sum(any(-1 in r.shape for r in n.results) for g in graphs for n in g.nodes)


def reason_of(error: BaseException, path: str) -> str:
    """Say in one sentence why a module cannot be followed, with the line of its file where that is known."""
    text = str(error)
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
    lines += [int(line) for file, line in FRAME.findall(text) if file == path]
    at_line = f" (line {lines[-1]})" if lines else ""
    if isinstance(error, ModuleNotFoundError):
        return f"it imports {error.name}, which is not at hand here: save it with torch.export.save and scan the .pt2"
    if type(error).__name__ in DATA_DEPENDENT or any(word in text for word in DATA_DEPENDENT):
        return f"its control flow or sizes depend on values{at_line}"
    if isinstance(error, torch._subclasses.fake_tensor.UnsupportedOperatorException):
        return f"the operator {getattr(error, 'func', '')} has no version without values{at_line}"
    return f"{_line(error)}{at_line}"


def _line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:200]
