"""Work of 16 splits of each sequence."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Lengths of sequences."""
    lengths = rng.integers(1, 2000, case.dims["b"])
    return {
        "ends": np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
        "info0": rng.integers(0, 9, (16 * case.dims["b"], 8)).astype(np.int32),
        "parts0": rng.integers(0, 9, 16 * case.dims["b"]).astype(np.int32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float32."""
    return _computed(
        {name: x.astype(np.float32) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    ends, b, rows = inputs["ends"], case.dims["b"], []
    starts, info, parts = [0], inputs["info0"].copy(), inputs["parts0"].copy()
    for i in range(b):
        length, end = int(ends[i + 1] - ends[i]), int(ends[i + 1])
        blocks = -(-length // 16)
        payload = -(-blocks // 16)
        count, tail = -(-blocks // payload), length % (payload * 16)
        count -= 0 < tail <= 4 and count > 1
        for j in range(count):
            first = int(ends[i]) + j * payload * 16
            last = min(first + payload * 16, end)
            rest = end - last
            if rest <= 4 and count > 1:
                last, rest = end, 0
            rows.append((i, -1 if count == 1 else len(rows), i, i + 1, first, last, rest, 0))
        starts.append(len(rows))
    info[: len(rows)] = rows
    parts[: len(rows)] = [row[1] for row in rows]
    each, more = divmod(len(rows), 80)
    work = [k * (each + 1) if k < more else more * (each + 1) + (k - more) * each for k in range(81)]
    final = np.stack([np.arange(b), np.arange(b) + 1], axis=1)
    made = {"work": np.array(work), "starts": np.array(starts), "final": final, "info": info, "parts": parts}
    return {name: x.astype(np.int32) for name, x in made.items()}
