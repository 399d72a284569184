"""bias_gelu: float64 as the reference, float32 as the scale of the error. Made by `tasks new`."""

import math

import numpy as np


def draw(rng, shape, law):
    """Both signs, rows of different magnitude, and an outlier in each."""
    x = rng.standard_normal(shape)
    if len(shape):
        x = x * np.exp2(rng.uniform(-2, 1, (*shape[:-1], 1)))
        flat = x.reshape(-1, shape[-1])
        flat[np.arange(len(flat)), rng.integers(0, shape[-1], len(flat))] *= 3
    return x.astype(np.float32)


def error_function(x):
    """The error function; NumPy has none."""
    return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(x), np.asarray(x).dtype)


def make_inputs(case, rng):
    rows = case.dims["rows"]
    cols = case.dims["cols"]
    randn_drawn = draw(rng, (rows, cols), "normal")
    randn_1_drawn = draw(rng, (cols,), "normal")
    return {
        "x": np.ascontiguousarray(np.asarray(randn_drawn, np.float32).reshape((rows, cols))),
        "bias": np.ascontiguousarray(np.asarray(randn_1_drawn, np.float32).reshape((cols,))),
    }


def compute(inputs, case, kind):
    x = inputs["x"].astype(kind)
    bias = inputs["bias"].astype(kind)
    add = x + bias
    mul = add * 0.5
    mul_1 = add * 0.7071067811865476
    erf = error_function(mul_1)
    add_1 = erf + 1
    mul_2 = mul * add_1
    return {"y": np.asarray(mul_2)}


TYPES = {"y": "float32"}


def reference(inputs, case):
    with np.errstate(all="ignore"):
        found = compute(inputs, case, np.float64)
    return {name: np.ascontiguousarray(x, np.float64).reshape(np.shape(x)) for name, x in found.items()}


def baseline(inputs, case):
    with np.errstate(all="ignore"):
        found = compute(inputs, case, np.float32)
    return {n: np.ascontiguousarray(x).astype(TYPES[n]).reshape(np.shape(x)) for n, x in found.items()}
