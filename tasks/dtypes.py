"""The element types of tasks: their names, numpy types, sizes, and the gap between neighbouring values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]
NUMPY: Mapping[str, np.dtype[Any]] = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "e5m2fnuz": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "i64": np.dtype(np.int64),
    "i32": np.dtype(np.int32),
    "i16": np.dtype(np.int16),
    "i8": np.dtype(np.int8),
    "u8": np.dtype(np.uint8),
    "bool": np.dtype(np.bool_),
}


def numpy_dtype(name: str) -> np.dtype[Any]:
    """Return the numpy type that stores this element type; KeyError for a name not in `DTYPES`."""
    return NUMPY[name]


def size_bytes(name: str) -> int:
    """Return the bytes of one element."""
    return NUMPY[name].itemsize


def is_float(dtype: np.dtype[Any]) -> bool:
    """Tell whether values of this type are rounded (fp8 and bf16 included)."""
    return dtype.kind not in "iub"


def to_float64(array: Array) -> Array:
    """Convert to float64, the array itself where it is; exact for all but 64-bit integers above 2**53."""
    if array.dtype == NUMPY["bf16"]:  # the upper half of a float32: several times faster than ml_dtypes' cast
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    with np.errstate(invalid="ignore"):  # a signalling NaN, which any 32 bits may be, becomes a quiet one
        return array.astype(np.float64, copy=False)


def rounded(array: Array, name: str) -> Array:
    """Round float32 values to the narrower floating type of this name, in the same layout; anything else as it is."""
    dtype = NUMPY.get(name, array.dtype)
    narrower = array.dtype == np.float32 and is_float(dtype) and dtype.itemsize < 4
    return array.astype(dtype) if narrower else array


def stored(value: float, name: str) -> Array:
    """Store one number as an element of this type, of no dims; rounded by way of float32 where it is narrower."""
    dtype = NUMPY[name]
    narrower = is_float(dtype) and dtype.itemsize < 4
    return np.array(value, np.float32 if narrower else dtype).astype(dtype)


def spacing_at(value: float, dtype: np.dtype[Any]) -> float:
    """Give the gap between neighbours of the type around |value|; 0 for integers, never below the subnormal gap."""
    if not is_float(dtype):
        return 0.0
    info = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    magnitude = min(max(abs(value), float(info.smallest_normal)), float(info.max))
    return float(2.0 ** np.floor(np.log2(magnitude)) * float(info.eps))


def largest_finite(dtype: np.dtype[Any]) -> float:
    """Return the largest finite value of a floating type; float64's for integers, of which none is anything else."""
    return float(ml_dtypes.finfo(dtype if is_float(dtype) else np.float64).max)  # type: ignore[no-untyped-call]


def smallest_normal(dtype: np.dtype[Any]) -> float:
    """Return the smallest positive value of a floating type that has its full precision."""
    return float(ml_dtypes.finfo(dtype).smallest_normal)  # type: ignore[no-untyped-call]


def unsigned_zeros(x: Array) -> Array:
    """Return the same without a negative zero: right kernels differ in whether it is less than zero."""
    if not is_float(x.dtype):
        return x
    bits = x.view(f"u{x.itemsize}")
    negative = np.array(-0.0).astype(x.dtype).view(bits.dtype)
    has_it = bits == negative
    return np.where(has_it, np.zeros((), x.dtype), x) if negative and has_it.any() else x
