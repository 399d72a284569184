"""Bytes of the tensors of a model."""

from __future__ import annotations

from math import prod

from records.model_scan import ModelTensor
from tasks.dtypes import NUMPY

OTHERS = {"complex64": 8, "complex128": 16, "complex32": 4, "uint16": 2, "uint32": 4, "uint64": 8}
COMPLEX = "complex"


def element_bytes(dtype: str) -> int:
    """Return the bytes of an element, 1 for a type that is not known, as those of packed values are."""
    return NUMPY[dtype].itemsize if dtype in NUMPY else OTHERS.get(dtype, 8 if dtype.startswith(COMPLEX) else 1)


def elements_met(tensor: ModelTensor) -> int:
    """Count the elements that memory holds of a tensor: those of an axis without a stride once."""
    lengths = (n for n, s in zip(tensor.shape, tensor.stride or tensor.shape, strict=False) if s != 0 or n == 0)
    return max(prod(lengths), 0)


def tensor_bytes(tensor: ModelTensor) -> int:
    """Return the bytes that reading a tensor once takes; 0 where its size depends on values."""
    return 0 if -1 in tensor.shape else elements_met(tensor) * element_bytes(tensor.dtype)
