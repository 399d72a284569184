"""The files of a task of recorded answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from imports.graph import Graph, Tensor
from imports.numpy_text import LAWS

_HEAD = '''"""{title}: answers that the original gave once, in double and in its own precision. Made by `tasks new`."""

from pathlib import Path

import numpy as np

from tasks.recorded import FILE, answer, draw_of, started

PATH = Path(__file__).with_name(FILE)
DRAWS = {draws}
TYPES = {types}
'''
_TAIL = """def reference(inputs, case):
    return answer(PATH, inputs, case, "reference", dict.fromkeys(TYPES, "f64"))


def baseline(inputs, case):
    return answer(PATH, inputs, case, "baseline", TYPES)
"""
_WEIGHT = '''def near(rng, name, case):
    """A weight near its first values."""
    x = started(PATH, name + "@" + ",".join(f"{n}={v}" for n, v in case.dims.items()))
    scale = np.sqrt(np.mean(np.square(x))) or 1.0
    return (x + 0.05 * scale * rng.standard_normal(x.shape)).astype(np.float32)
'''
MOST_LETTERS = 12_000  # of the original in the description
WHOLE: Mapping[str, str] = {"i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8", "u8": "uint8", "bool": "bool"}


def reference_text(
    title: str, graph: Graph, dims: Sequence[str], law: str, ranges: Mapping[str, tuple[float, float]], draws: int
) -> str:
    """Write the text of reference.py."""
    types = json.dumps({spec.name: spec.dtype for spec, _ in graph.outputs})
    lines = [f'        "{t.name}": {_drawn(t, ranges)},' for t in graph.inputs]
    used = "\n".join(lines)
    sizes = [f'    {n} = case.dims["{n}"]' for n in dims if re.search(rf"\b{n}\b", used)]
    make = ["def make_inputs(case, rng):", "    rng = draw_of(case, DRAWS)", *sizes, "    return {", *lines, "    }"]
    weight = [_WEIGHT.strip()] if any(t.parameter for t in graph.inputs) else []
    parts = [_HEAD.format(title=title, draws=draws, types=types).strip(), LAWS[law].strip("\n"), *weight]
    return "\n\n\n".join([*parts, "\n".join(make), _TAIL.strip()]) + "\n"


def _drawn(tensor: Tensor, ranges: Mapping[str, tuple[float, float]]) -> str:
    shape = f"({', '.join(str(s) for s in tensor.shape)}{',' if tensor.shape else ''})"
    low, high = ranges.get(tensor.name, (0.0, 1.0))
    if tensor.parameter:
        cast = "" if tensor.dtype not in ("f64",) else ".astype(np.float64)"
        return f'near(rng, "{tensor.name}", case){cast}'
    if tensor.dtype in WHOLE:
        return f"rng.integers({int(low)}, {int(high) + 1}, {shape}).astype(np.{WHOLE[tensor.dtype]})"
    drawn = f'draw(rng, {shape}, "{"uniform" if low >= 0 else "normal"}")'
    return f"{drawn}.astype(np.float64)" if tensor.dtype == "f64" else drawn


def recorded_text(manifest: str, statement: str, original: str) -> str:
    """Write the manifest of a task whose description is the original, and whose inputs are whole draws."""
    description = json.dumps(f"{statement} The original:\n\n{original[:MOST_LETTERS]}")
    text = re.sub(r"^description = .*$", lambda _: f"description = {description}", manifest, count=1, flags=re.M)
    return text.replace("\n\n[[input]]", "\nmix = false\nplant = []\n\n[[input]]", 1)


def with_golden(manifest: str, draws: int, digest: str) -> str:
    """Return the manifest with the table of what is recorded."""
    return manifest.rstrip("\n") + f'\n\n[golden]\ndraws = {draws}\ndigest = "{digest}"\n'


def readme_text(title: str, draws: int, cases: Sequence[str]) -> str:
    """Write the task's README.md: how weak such a task is."""
    return f"""# {title}

**golden: {draws} recorded draws.** The original could not be stated in NumPy. It ran once, at the import; `golden.npz`
keeps its answers, in double and in its own precision, for {draws} draws of the inputs of each listed case
({"; ".join(cases[:4])}{" ..." if len(cases) > 4 else ""}).

This is weaker than a task with a reference:

- a secret seed chooses one of the {draws} draws, so a kernel could recognise its inputs and know the answer by heart;
- only listed shapes are judged: there are no held-out ones, none derived from a kernel's plan, none beside thresholds;
- inputs are whole draws: no parts of two draws are put together, no zeros, equal values or other orders are planted;
- the linter asked the original about shortcuts once, at the import, and asks nothing of the kind afterwards.

Read a kernel that wins here before you use it: it must hold no tables of numbers and no tests of single elements.
"""
