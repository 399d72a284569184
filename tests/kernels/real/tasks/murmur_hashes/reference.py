"""MurmurHash3 of 128 bits."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors

_ALL = 2**64 - 1
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F


def _rotated(x: int, by: int) -> int:
    return (x << by | x >> 64 - by) & _ALL


def _mixed(x: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        x = (x ^ x >> 33) * factor & _ALL
    return x ^ x >> 33


def _hash(key: bytes, seed: int) -> tuple[int, int]:
    one = two = seed
    for at in range(0, len(key), 16):
        part, is_whole = key[at : at + 16], len(key) - at >= 16
        k1, k2 = int.from_bytes(part[:8], "little"), int.from_bytes(part[8:], "little")
        one ^= _rotated(k1 * _C1 & _ALL, 31) * _C2 & _ALL
        if is_whole:
            one = (_rotated(one, 27) + two) * 5 + 0x52DCE729 & _ALL
        two ^= _rotated(k2 * _C2 & _ALL, 33) * _C1 & _ALL
        if is_whole:
            two = (_rotated(two, 31) + one) * 5 + 0x38495AB5 & _ALL
    one, two = one ^ len(key), two ^ len(key)
    one = one + two & _ALL
    two = two + one & _ALL
    one, two = _mixed(one), _mixed(two)
    one = one + two & _ALL
    return one, two + one & _ALL


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Random keys."""
    n = case.dims["n"]
    return {
        "keys": rng.integers(0, 256, (n, 24), dtype=np.uint8),
        "start": 24 * np.arange(n, dtype=np.int32),
        "length": rng.integers(0, 25, n, dtype=np.int32),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In float64."""
    return _computed(
        {name: x.astype(np.float64) if x.dtype.kind not in "iub" else x for name, x in inputs.items()}, case
    )


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """In the task's own type."""
    return _computed(dict(inputs), case)


def _computed(inputs: Tensors, case: Case) -> dict[str, Array]:
    rows = [
        _hash(bytes(key[:length]), seed)
        for seed, (key, length) in enumerate(zip(inputs["keys"], inputs["length"], strict=True))
    ]
    return {"y": np.array(rows, np.uint64).view(np.int64)}
