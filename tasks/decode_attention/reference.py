"""Attention of one token over a cache that all heads share."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tasks.task import Array, Case, Tensors

SCALE = np.float32(0.07216878364870322)  # as in [scalars]: kernels get the same float32
DEEP = 76.0  # below the largest score, where a weight is not denormal yet, nor its product with a small value


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal caches with outliers, queries of different scale, so that some heads look at few places."""
    batch, heads, length = (case.dims[name] for name in ("batch", "heads", "length"))
    width = case.dims["latent"] + case.dims["rope"]
    kv = rng.standard_normal((batch, length, width), dtype=np.float32)
    kv[:, np.arange(length), rng.integers(width, size=length)] *= np.float32(3)
    q = rng.standard_normal((batch, heads, width), dtype=np.float32)
    q *= rng.uniform(0.5, 2, (batch, heads, 1)).astype(np.float32)
    return {"q": q.astype(ml_dtypes.bfloat16), "kv": kv.astype(ml_dtypes.bfloat16)}


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    q, kv = inputs["q"].astype(np.float64), inputs["kv"].astype(np.float64)
    return {"y": _attended(q, kv, case.dims["latent"])}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32, rounded once to bfloat16."""
    q, kv = inputs["q"].astype(np.float32), inputs["kv"].astype(np.float32)
    return {"y": _attended(q, kv, case.dims["latent"]).astype(ml_dtypes.bfloat16)}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Make scores beyond the range of exp, much the same everywhere, one far above, all far below zero, repeats."""
    q, kv = inputs["q"], inputs["kv"]
    return {
        "peaked": {"q": (q.astype(np.float32) * 40).astype(q.dtype), "kv": kv},
        "even": {"q": (q.astype(np.float32) * np.float32(0.01)).astype(q.dtype), "kv": kv},
        "crest": _crest(q.astype(np.float32) * np.float32(0.01), np.abs(kv.astype(np.float32)), case, rng),
        "all_low": _lowered(q.astype(np.float32), kv.astype(np.float32), rng),
        "repeated": {"q": q, "kv": kv[:, _repeated(kv.shape[1], rng)]},
    }


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Leave out parts of the score, take another scale, the last part of the cache for the values."""
    q, kv = inputs["q"].astype(np.float32), inputs["kv"].astype(np.float32)
    latent = case.dims["latent"]
    width = np.float32(np.sqrt(192 / q.shape[2]))
    found = {
        "no rotary part": _attended(q[:, :, :latent], kv[:, :, :latent], latent),
        "the scale of the whole width": _attended(q * width, kv, latent),
        "no scale": _attended(q / SCALE, kv, latent),
        "the first half of the cache": _attended(q, kv[:, : -(-kv.shape[1] // 2)], latent),
        "the mean of the cache": np.broadcast_to(kv[:, :, :latent].mean(axis=1)[:, None], (*q.shape[:2], latent)),
    }
    return {name: {"y": y.astype(ml_dtypes.bfloat16)} for name, y in found.items()}


def _crest(q: Array, kv: Array, case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Let one place of each cache, of values zero, score so far above the others that these weigh little each."""
    batch, place = np.arange(len(kv)), rng.integers(kv.shape[1], size=len(kv))
    kv[:, :, -1] = 0
    kv[batch, place, : case.dims["latent"]] = 0
    kv[batch, place, -1] = 1
    count = q.shape[0] * q.shape[1]
    above = 9 + (DEEP - 9) * (rng.permutation(count) + rng.random(count)) / count
    q[:, :, -1] = above.reshape(q.shape[:2]) / SCALE  # each head its own: some leave out what lies far below
    return {"q": q.astype(ml_dtypes.bfloat16), "kv": kv.astype(ml_dtypes.bfloat16)}


def _repeated(length: int, rng: np.random.Generator) -> Array:
    """Let half of the places hold what stands at the one before, so that runs have the same score."""
    return np.maximum.accumulate(np.where(rng.random(length) < 0.5, np.arange(length), 0))


def _lowered(q: Array, kv: Array, rng: np.random.Generator) -> dict[str, Array]:
    """Lower the scores of all places alike by the last element of query and cache: a maximum begun above them stays.

    The values are multiples of a quarter, so that no sum of products rounds, however low it lies. With the scale and
    log2(e) folded into the query sums do round, so its tolerance is wide.
    """
    q, kv = np.rint(4 * q) / 4, np.rint(4 * kv) / 4
    kv[:, :, -1] = -1024
    q[:, :, -1] = np.rint(10 ** rng.uniform(2.2, 4.8, q.shape[:2]) / (1024 * SCALE) * 4) / 4
    return {"q": q.astype(ml_dtypes.bfloat16), "kv": kv.astype(ml_dtypes.bfloat16)}


def _attended(q: Array, kv: Array, latent: int) -> Array:
    scores = np.einsum("bgk,btk->bgt", q, kv, optimize=True) * q.dtype.type(SCALE)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    return np.asarray(np.einsum("bgt,btv->bgv", weights, kv[:, :, :latent], optimize=True))
