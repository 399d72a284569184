"""Nearest codeword of each vector, in float64 with matrix products."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors

SMALL = 2.0**-20  # a power of two, so that the rounding stays the same
STRIDES = (1, 64, 256)  # from a codeword to the one like it, or anywhere: a lane often meets both
CLEAR = 0.5  # that the least distance lies below the next one
CLEAR_SHARE = 1e-4  # and of the squares that a distance may be made of
FURTHEST = 2.0**126  # of distances that float32 holds, whatever they are added up of
PART = 512  # vectors whose distances are computed at once


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw codewords in pairs that differ in one random coordinate alone, and vectors on one side between the two."""
    return _drawn(case, rng, 1.0)


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Return the index of the smallest distance."""
    x, codebook = inputs["x"].astype(np.float64), inputs["codebook"].astype(np.float64)
    lengths = np.einsum("ck,ck->c", codebook, codebook)
    parts = [np.argmin(lengths - 2 * (x[at : at + 4096] @ codebook.T), axis=1) for at in range(0, len(x), 4096)]
    return {"index": np.concatenate(parts).astype(np.float64)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Return the same: the distances leave no doubt."""
    return {"index": reference(inputs, case)["index"].astype(np.int32)}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Move vectors far from one codeword, or all, in large values too; short codewords or vectors; small values."""
    short = dict(_drawn(case, rng, 1.0))
    return {
        "far": _drawn(case, rng, 2.0),
        "short": {**short, **_scaled(short, rng)},
        "away": _away(_drawn(case, rng, 1.0), rng),
        "large": _enlarged(_away(_drawn(case, rng, 1.0), rng)),
        "small": {name: array * np.float32(SMALL) for name, array in _drawn(case, rng, 1.0).items()},
        "shrunk": _shrunk(_drawn(case, rng, 1.0), rng),
    }


def within(made: Tensors, drawn: Tensors, case: Case) -> dict[str, Array]:
    """Take vectors whose nearest codeword is in doubt back to those drawn; all inputs where these are in doubt then."""
    with np.errstate(all="ignore"):
        lengths = [np.square(array.astype(np.float64)).sum(axis=1).max(initial=0) for array in made.values()]
    if not 4 * sum(lengths) < FURTHEST:
        return dict(drawn)
    found = _where_clear(np.array(made["x"]), {"x": drawn["x"], "codebook": made["codebook"]})
    is_clear = all(
        _is_clear(found["x"][at : at + PART], found["codebook"]).all() for at in range(0, len(found["x"]), PART)
    )
    return found if is_clear else dict(drawn)


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Take the largest product without the codewords' lengths, and distances of fewer codewords or coordinates."""
    x, codebook = inputs["x"], inputs["codebook"]
    cut = {"x": x[:, :-1], "codebook": codebook[:, :-1]}
    first = reference({"x": x, "codebook": codebook[: -(-len(codebook) // 2)]}, case)["index"]
    found = {
        "the largest product": np.argmax(x @ codebook.T, axis=1).astype(np.int32),
        "the first half of the codewords": first.astype(np.int32),
    }
    if x.shape[1] > 1:
        found["all but the last coordinate"] = reference(cut, case)["index"].astype(np.int32)
    return {name: {"index": index} for name, index in found.items()}


def _drawn(case: Case, rng: np.random.Generator, spread: float) -> dict[str, Array]:
    rows, codes, width = (case.dims[name] for name in ("rows", "codes", "width"))
    centres = np.float32(3) * rng.standard_normal((-(-codes // 2), width), dtype=np.float32)
    # Two pairs never come close: the first coordinates count the pairs, four apart, in base 16.
    number = np.arange(len(centres))
    for place in range(min(3, width)):
        centres[:, place] = (4 * (number // 16**place % (16 if place < min(3, width) - 1 else 1 << 20))).astype(
            np.float32
        )
    axis = rng.integers(width, size=len(centres))
    step = np.zeros_like(centres)
    step[np.arange(len(centres)), axis] = np.float32(0.5)
    codebook = np.stack([centres - step, centres + step], axis=1).reshape(-1, width)[:codes]
    order = _order(codes, rng)
    wanted = rng.integers(codes, size=rows)
    ends = rng.choice(rows, min(2, rows), replace=False)  # of the search: the last codeword is seldom drawn
    wanted[ends] = order[[-1, 0][: len(ends)]]
    pair, side = wanted // 2, (wanted % 2 * 2 - 1).astype(np.float32)
    noise = np.float32(0.25 * spread) * rng.uniform(-1, 1, (rows, width)).astype(np.float32)
    noise[np.arange(rows), axis[pair]] = side * rng.uniform(0.25, 0.5, rows).astype(np.float32)
    return {"x": centres[pair] + noise, "codebook": codebook[order]}


def _scaled(given: Tensors, rng: np.random.Generator) -> dict[str, Array]:
    """Shift all far to one side, so that lengths differ and products alone say nothing."""
    shift = np.float32(2) * rng.standard_normal((1, given["x"].shape[1]), dtype=np.float32)
    return {"x": given["x"] + shift, "codebook": given["codebook"] + shift}


def _away(given: Tensors, rng: np.random.Generator) -> dict[str, Array]:
    """Move vectors beyond all codewords in the first coordinate, in any one, or in all, where the nearest is clear."""
    x, codebook = given["x"], given["codebook"]
    rows, width = x.shape
    axis = np.where(rng.random(rows) < 0.5, 0, rng.integers(width, size=rows))
    chosen = (np.arange(width) == axis[:, None]) | (rng.random((rows, 1)) < 0.25)
    low, high = codebook.min(axis=0), codebook.max(axis=0)
    beyond = rng.uniform(8, 40, x.shape)
    moved = np.where(rng.random(x.shape) < 0.5, low - beyond, high + beyond).astype(np.float32)
    return _where_clear(np.where(chosen, moved, x), given)


def _enlarged(given: Tensors) -> dict[str, Array]:
    """Enlarge as far as distances in float32 allow, by a power of two: a search may begin with a smaller one."""
    lengths = sum(float(np.square(array.astype(np.float64)).sum(axis=1).max(initial=0)) for array in given.values())
    factor = np.float32(2.0 ** np.floor(np.log2(FURTHEST / (4 * lengths)) / 2 - 0.01))
    return {name: factor * array for name, array in given.items()}


def _order(codes: int, rng: np.random.Generator) -> Array:
    """Draw the codewords' places: those of a pair anywhere, or at one distance from each other."""
    stride = int(rng.choice((0, *STRIDES)))
    if not stride or codes <= stride:
        return np.asarray(rng.permutation(codes))
    first = np.flatnonzero(np.arange(codes - stride) // stride % 2 == 0)
    pairs = rng.permutation(np.stack([first, first + stride], axis=1))
    pairs = np.where(rng.random((len(pairs), 1)) < 0.5, pairs, pairs[:, ::-1])
    order = np.full(codes, -1)
    order[pairs.reshape(-1)] = np.arange(pairs.size)
    order[order < 0] = rng.permutation(np.arange(pairs.size, codes))
    return order


def _shrunk(given: Tensors, rng: np.random.Generator) -> dict[str, Array]:
    """Make vectors up to 64 times as short or four times as long: the nearest codeword need not be the shortest."""
    return _where_clear(given["x"] * np.exp2(rng.uniform(-6, 2, (len(given["x"]), 1))).astype(np.float32), given)


def _where_clear(made: Array, given: Tensors) -> dict[str, Array]:
    """Keep the changed vectors where float32 decides which codeword is the nearest, elsewhere those that were given."""
    x, codebook = given["x"], given["codebook"]
    for at in range(0, len(x), PART):
        part = slice(at, at + PART)
        made[part] = np.where(_is_clear(made[part], codebook)[:, None], made[part], x[part])
    return {"x": made, "codebook": codebook}


def _is_clear(x: Array, codebook: Array) -> Array:
    """Tell for each vector whether float32 decides which codeword is the nearest."""
    vectors, words = x.astype(np.float64), codebook.astype(np.float64)
    lengths, own = np.einsum("ck,ck->c", words, words), np.einsum("ik,ik->i", vectors, vectors)
    if len(words) < 2:
        return np.ones(len(vectors), bool)
    least = np.partition(lengths - 2 * vectors @ words.T, 1, axis=1)
    return np.asarray(least[:, 1] - least[:, 0] > CLEAR + CLEAR_SHARE * (own + lengths.max()))
