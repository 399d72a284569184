"""Buffers that a caller hands in for results, where the function makes its own ones instead."""

from __future__ import annotations

from dataclasses import replace

from imports.graph import Graph, Operation, Ref, Tensor

REALS = ("f64", "f32", "f16", "bf16")


def with_handed(graph: Graph) -> Graph:
    """Give a result in the graph the name and type of an input of its shape that nothing reads or writes."""
    _, read_names = graph.needed()
    updated_names = {spec.initial for spec, _ in graph.outputs}
    idle = [t for t in graph.inputs if t.name not in read_names | updated_names and not t.parameter]
    nodes, outputs = list(graph.nodes), list(graph.outputs)
    for buffer in idle:
        index = next((i for i, (spec, _) in enumerate(outputs) if _fits(spec, buffer, graph)), None)
        if index is None:
            continue
        _, value = outputs[index]
        if graph.shape_of(value) != buffer.shape:  # a single number, in a buffer of one
            name = f"{buffer.name}_shaped"
            nodes.append(
                Operation(name, "aten.view.default", (Ref(value), [1]), {}, buffer.shape, graph.dtype_of(value))
            )
            value = name
        outputs[index] = replace(buffer, law="", structure=""), value
        graph = replace(graph, inputs=tuple(t for t in graph.inputs if t.name != buffer.name))
    return replace(graph, nodes=tuple(nodes), outputs=tuple(outputs))


def _fits(spec: Tensor, buffer: Tensor, graph: Graph) -> bool:
    if spec.initial or spec.name in {t.name for t in graph.inputs}:
        return False
    same_shape = spec.shape == buffer.shape or (spec.shape, buffer.shape) == ((), (1,))
    return same_shape and (spec.dtype == buffer.dtype or {spec.dtype, buffer.dtype} <= set(REALS))
