"""Names that a candidate's code may call and does not define: the lab's runtime, the C library's functions of numbers.

Everything else is refused: an undefined name must not find the C library's, nor the runtime's own.
"""

from __future__ import annotations

import re

CHECKS = {  # what is added where memory is accessed; each gives back the pointer that the access then uses
    **{f"ks.{verb}{size}": "ptr (ptr)" for verb in ("load", "store") for size in (1, 2, 4, 8, 16)},
    "ks.loadN": "ptr (ptr, i64)",
    "ks.storeN": "ptr (ptr, i64)",
    "ks.private": "ptr (ptr, i64)",
    "ks.callee": "ptr (ptr, ptr)",
}
ENTRIES = {  # signatures as `ir_types.signature` writes them
    **CHECKS,
    "ks_atomic": "ptr (ptr, i64)",
    "ks_touch": "ptr (ptr, i64, i32)",
    "ks_wave": "i64 (i32, i64, i64)",
    "ks_matrix": "void (i32, i32, ptr, ptr, ptr)",
    "ks_sparse_matrix": "void (i32, i32, i32, ptr, ptr, ptr)",
    "ks_barrier": "preserve_nonecc void ()",
    "ks_sleep": "void ()",
    "ks_grid_sync": "void ()",
    "ks_fence": "void (i32)",
    "ks_mask": "void (i64)",
    "ks_trap": "void ()",
    "ks_is_shared": "i32 (ptr)",
    "ks_is_private": "i32 (ptr)",
    "ks_lds_load": "void (ptr, ptr, i64)",
    "ks.misaligned": "void (i64, i64, i64)",
    "ks.beyond": "preserve_mostcc void (ptr, i64, ptr, i64, i64, i64, i64)",
    "ks.halved": "preserve_mostcc void ()",
    "ks.broken": "void ()",
    "__ubsan_handle_type_mismatch_v1": "void (ptr, i64)",
    "__ubsan_handle_alignment_assumption": "void (ptr, i64, i64, i64)",
    "__ubsan_handle_out_of_bounds": "void (ptr, i64)",
    "__ubsan_handle_implicit_conversion": "void (ptr, i64, i64)",
    "__ubsan_handle_local_out_of_bounds_abort": "void ()",
    "__ubsan_handle_shift_out_of_bounds": "void (ptr, i64, i64)",
    "__asan_memcpy": "ptr (ptr, ptr, i64)",
    "__asan_memmove": "ptr (ptr, ptr, i64)",
    "__asan_memset": "ptr (ptr, i32, i64)",
    "__asan_handle_no_return": "void ()",
}
PROBES = frozenset({"ks.misaligned", "ks.beyond", "ks.halved", "ks.broken"})  # called before any optimisation
NEXT = {"ks_next": "ptr ()", "ks_leave": "void (ptr)"}  # of the bridges alone, whose text names them by a secret
_NUMBERS = (
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "fabs",
    "floor",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "nearbyint",
    "rint",
    "round",
    "roundeven",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "j0",
    "j1",
    "y0",
    "y1",
    "ilogb",
    "lrint",
    "llrint",
    "lround",
    "llround",
    "atan2",
    "copysign",
    "fdim",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "nextafter",
    "pow",
    "remainder",
    "ldexp",
    "scalbn",
    "jn",
    "yn",
    "fma",
)
MATHS = frozenset(f"{name}{kind}" for name in _NUMBERS for kind in ("", "f"))
POINTED = {  # pointers among the arguments of functions of numbers, and the bytes written there
    "frexp": {1: 4}, "frexpf": {1: 4}, "modf": {1: 8}, "modff": {1: 4},
    "sincos": {1: 8, 2: 8}, "sincosf": {1: 4, 2: 4}, "remquo": {2: 4}, "remquof": {2: 4},
}  # fmt: skip
_COMPILERS = re.compile(  # what the code generator calls by itself
    r"mem(?:cpy|move|set|cmp)|bcmp|__safestack_unsafe_stack_ptr"
    r"|__u?(?:div|mod|divmod)[dt]i[34]|__mul(?:[dt]i3|o[dt]i4)|__(?:ashl|ashr|lshr)ti3|__powi[sd]f2"
    r"|__fix(?:uns)?[shd]f[dt]i|__float(?:un)?[dt]i[shd]f|__(?:extend|trunc)(?:hf|bf|sf|df){2}2|__gnu_[fh]2[fh]_ieee"
)
_VARIABLES = frozenset({"ks_ids", "ks_dynamic_lds", "ks_outcomes", "ks_compared", "ks_loaded"})
_DEVICE_LIBRARIES = ("__ocml_", "__ockl_", "__oclc_", "__nv_", "__hip_", "__amdgcn_")
_PREFIXES = ("__asan_", "__ubsan_", "__sanitizer_", "__safestack_", "__stack_chk", "llvm.", *_DEVICE_LIBRARIES)


def belongs_to_the_lab(name: str) -> bool:
    """A name that no candidate may define: of the runtime, the sanitizers, the C library, the GPU's libraries."""
    return (
        name in ENTRIES
        or name in NEXT
        or name in MATHS
        or name in POINTED
        or name in _VARIABLES
        or _COMPILERS.fullmatch(name) is not None
        or name.startswith(_PREFIXES)
    )


def may_be_undefined(name: str) -> bool:
    """A name that the link may look for. Mangled names of other namespaces are found nowhere and fail by themselves."""
    if name.startswith("_Z"):
        return "2ks" not in name
    return belongs_to_the_lab(name) and not name.startswith(("llvm.", *_DEVICE_LIBRARIES))
