"""Two experts of each token, with the weights of their logits."""

from __future__ import annotations

import numpy as np

from tasks.task import Array, Case, Tensors

APART = 0.05  # that the logits of a token lie at least
SHUT = (15.0, 50.0)  # below zero, about, the inner values of experts that are shut
MEAN = 2 / np.pi  # of the product of two normal values' sizes


def make_inputs(case: Case, rng: np.random.Generator) -> dict[str, Array]:
    """Draw normal values; the logits of a token are equally spaced, in random order, and a little off."""
    tokens, width, hidden, experts = (case.dims[name] for name in ("tokens", "width", "hidden", "experts"))
    spaced = np.argsort(rng.random((tokens, experts)), axis=1) * 0.5 - 0.25 * experts
    return {
        "x": rng.standard_normal((tokens, width), dtype=np.float32),
        "logits": (spaced + rng.uniform(-0.2, 0.2, (tokens, experts))).astype(np.float32),
        "w1": rng.standard_normal((experts, hidden, width), dtype=np.float32) / np.float32(np.sqrt(width)),
        "w2": rng.standard_normal((experts, width, hidden), dtype=np.float32) / np.float32(np.sqrt(hidden)),
    }


def reference(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float64."""
    return {"y": _routed({name: array.astype(np.float64) for name, array in inputs.items()}, 2)}


def baseline(inputs: Tensors, case: Case) -> dict[str, Array]:
    """Compute in float32."""
    return {"y": _routed(inputs, 2)}


def variants(inputs: Tensors, case: Case, rng: np.random.Generator) -> dict[str, Tensors]:
    """Give all tokens one expert first, or an idle one; the first nearly alone; far logits; gates closed, or shut."""
    logits = inputs["logits"].copy()
    logits[:, rng.integers(logits.shape[1])] += np.float32(0.5 * logits.shape[1] + 1)
    sign = np.where((np.arange(len(logits)) + rng.integers(2)) % 2 == 0, 1, -1)[:, None]
    shift = sign * 10 ** rng.uniform(2.3, 5.6, (len(logits), 1))  # up to where logits still differ
    far = (inputs["logits"] + shift).astype(np.float32)
    closed = {**inputs, "x": np.abs(inputs["x"]), "w1": -np.abs(inputs["w1"])}
    depth = rng.uniform(*SHUT) / (MEAN * np.sqrt(case.dims["width"]))
    return {
        "one_expert": {**inputs, "logits": logits},
        "sure": {**inputs, "logits": inputs["logits"] * np.float32(9)},
        "far": {**inputs, "logits": far},
        "idle_expert": _idle(inputs, rng),
        "closed": closed,
        "shut": {**closed, "x": (depth * closed["x"]).astype(np.float32)},
    }


def within(made: Tensors, drawn: Tensors, case: Case) -> dict[str, Array]:
    """Take the logits of tokens that leave a doubt about the choice back to those that were drawn."""
    three = -np.partition(-made["logits"].astype(np.float64), min(2, case.dims["experts"] - 1), axis=1)[:, :3]
    apart = np.diff(np.sort(three, axis=1), axis=1).min(axis=1)
    is_clear = np.isfinite(three).all(axis=1) & (apart >= APART)
    return {"logits": np.where(is_clear[:, None], made["logits"], drawn["logits"])}


def _idle(inputs: Tensors, rng: np.random.Generator) -> Tensors:
    """Let one expert that adds nothing be nearly alone with each token: all that there is comes from the second."""
    logits, w2 = inputs["logits"].copy(), inputs["w2"].copy()
    idle = int(rng.integers(logits.shape[1]))
    w2[idle] = 0
    logits[:, idle] = logits.max(axis=1) + rng.uniform(8, 80, len(logits)).astype(np.float32)
    return {**inputs, "logits": logits, "w2": w2}


def shortcuts(inputs: Tensors, case: Case) -> dict[str, Tensors]:
    """Take one expert a token, the weights of all logits, equal weights, another function."""
    logits = inputs["logits"]
    every = np.exp(logits - logits.max(axis=1, keepdims=True))
    every /= every.sum(axis=1, keepdims=True)
    return {
        "the first expert alone": {"y": _routed(inputs, 1)},
        "the softmax of all logits": {"y": _routed(inputs, 2, every)},
        "equal weights": {"y": _routed(inputs, 2, np.full_like(logits, 0.5))},
        "the first expert of all tokens": {"y": _routed({**inputs, "logits": np.resize(logits[:1], logits.shape)}, 2)},
    }


def _routed(given: Tensors, count: int, shares: Array | None = None) -> Array:
    x, logits, w1, w2 = (given[name] for name in ("x", "logits", "w1", "w2"))
    chosen = np.argsort(-logits, axis=1, kind="stable")[:, :count]
    own = np.take_along_axis(logits, chosen, axis=1)
    weights = np.exp(own - own[:, :1])
    weights /= weights.sum(axis=1, keepdims=True)
    if shares is not None:
        weights = np.take_along_axis(shares, chosen, axis=1)
    y = np.zeros_like(x)
    for expert in range(len(w1)):
        token, place = np.nonzero(chosen == expert)
        u = x[token] @ w1[expert].T
        y[token] += weights[token, place, None] * ((u / (1 + np.exp(-u))) @ w2[expert].T)
    return y
