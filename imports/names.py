"""Names of generated kernels, and of values that neither generated Python nor generated C++ has for something else."""

from __future__ import annotations

import re
from collections.abc import Collection
from keyword import iskeyword

from imports.numpy_helpers import HELPERS

NAIVE, TUNED, MATRIX = "seed.hip", "seed_tuned.mi300x.hip", "seed_matrix.mi300x.hip"  # the last two: for waves of 64
GENERATED = (NAIVE, TUNED, MATRIX)
CPP = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const
consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do
double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
requires return short signed sizeof static static_assert static_cast struct switch template this thread_local
throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
NULL INFINITY NAN warpSize threadIdx blockIdx blockDim gridDim linux unix main Arguments Index
"""
PYTHON = """
np math ml_dtypes inputs case kind rng draw compute reference baseline make_inputs TYPES found law bool float
range
"""
LOCAL = re.compile(r"[ijpqr]\d+|\w+_")
RESERVED = frozenset([*CPP.split(), *PYTHON.split(), *HELPERS])


def is_reserved(name: str) -> bool:
    """Tell whether a name stands for something else in a generated file."""
    return name in RESERVED or iskeyword(name) or LOCAL.fullmatch(name) is not None


def is_plain(name: str) -> bool:
    """Tell whether a name has only letters, digits and underscores as C++ and TOML take them."""
    return re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) is not None


def free_name(name: str, taken_names: Collection[str]) -> str:
    """Return the name, or the first with a number behind it that nothing has."""
    candidate, number = name, 0
    while is_reserved(candidate) or candidate in taken_names:
        number += 1
        candidate = f"{name}_{number}"
    return candidate
