"""The kernels that an import generates: the naive one, and those by iteration space, without and with matrix cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from imports.hip_text import seed_text
from imports.manifest_text import Shapes
from imports.names import MATRIX, NAIVE, TUNED
from imports.refusal import FAULTS, ImportRefused
from imports.route import Followed
from imports.schedules.index_digits import NotDirect
from imports.schedules.product_types import is_product
from imports.schedules.tuned_text import tuned_text


def generated_seeds(followed: Followed, dims: Sequence[str], shapes: Shapes) -> tuple[dict[str, str], list[str]]:
    """Write the kernels by their file names, and sentences about those that there are not; none without a naive one."""
    if followed.unseeded:
        return {}, [f"no seed was generated: {followed.unseeded}"]
    graph, scalars = followed.graph, list(shapes.scalars)
    benchmarks, tests = (
        [{n: int(case[n]) for n in dims} for case in cases] for cases in (shapes.benchmarks, shapes.tests)
    )
    forms: dict[str, Callable[[], str]] = {
        NAIVE: lambda: seed_text(graph, dims, scalars),
        TUNED: lambda: tuned_text(graph, dims, scalars, benchmarks, tests),
    }
    if any(is_product(node) for node in graph.nodes):
        forms[MATRIX] = lambda: tuned_text(graph, dims, scalars, benchmarks, tests, has_matrix_cores=True)
    texts = dict[str, str]()
    for name, write in forms.items():
        try:
            texts[name] = write()
        except ImportRefused as error:
            if name == NAIVE:
                return {}, [f"no seed was generated: {error}"]
        except (*FAULTS, NotDirect):  # a graph that the schedules do not foresee: the naive kernel remains
            if name == NAIVE:
                raise
    return {name: text for name, text in texts.items() if text}, []
