"""A kernel's text as numbers that a rename does not change: a predictor learns from them what a change costs or gains.

Counts of what the code is made of, as logarithms, and for each tunable where it is read: a factor in a loop's header is
one thing, the same factor in an array's size another. Names, comments and spacing do not count.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from agents.source import KernelFile, SourceError, look

COUNTED: Mapping[str, re.Pattern[str]] = {
    "subscripts": re.compile(r"\w\s*\["),
    "loops": re.compile(r"\b(?:for|while)\b"),
    "branches": re.compile(r"\bif\b|\?"),
    "statements": re.compile(r";"),
    "products": re.compile(r"\*(?!\s*(?:__restrict__|const\b))"),
    "quotients": re.compile(r"[/%]"),
    "barriers": re.compile(r"\b__sync(?:threads|warp)\b|\bs_barrier\b"),
    "shuffles": re.compile(r"__shfl|__ballot|dpp|ds_bpermute|__reduce"),
    "atomics": re.compile(r"\w*[aA]tomic\w*"),
    "shared": re.compile(r"\b__shared__\b"),
    "matrix": re.compile(r"\b__builtin_amdgcn_(?:mfma|smfmac)"),
    "unrolled": re.compile(r"#\s*pragma\s+unroll"),
    "nontemporal": re.compile(r"nontemporal"),
    "restrict": re.compile(r"__restrict__"),
    "bounds": re.compile(r"__launch_bounds__"),
    "roots_and_powers": re.compile(r"\b\w*(?:exp|log|pow|tanh|sqrt|rsq|sin|cos|erf)2?f?\s*\("),
    "native": re.compile(r"\b__(?:exp|log|pow|sin|cos)\w*f\s*\(|__builtin_amdgcn_(?:exp|log|rcp|rsq)"),
    "lanes_x": re.compile(r"\bthreadIdx\s*\.\s*x"),
    "lanes_y": re.compile(r"\bthreadIdx\s*\.\s*y"),
    "blocks_x": re.compile(r"\bblockIdx\s*\.\s*x"),
    "blocks_y": re.compile(r"\bblockIdx\s*\.\s*[yz]"),
}
_ROLES: Mapping[str, re.Pattern[str]] = {  # of a tunable, by the text that holds it
    "unroll": re.compile(r"#\s*pragma\s+unroll[^\n]*"),
    "sizes": re.compile(r"\[[^\[\]]*\]|ext_vector_type\s*\([^()]*\)"),
    "headers": re.compile(r"\bfor\s*\([^{}]*?\)\s*\{?\n?"),
    "attributes": re.compile(r"__launch_bounds__\s*\([^()]*\)"),
    "switches": re.compile(r"#\s*if[^\n]*"),
}
_PLANNED = ("grid", "block", "lds")
_FIXED = re.compile(r"#\s*pragma\s+unroll[ (]+(\d+)")
_WAVES = re.compile(r"__launch_bounds__\s*\([^(),]*(?:\([^()]*\)[^(),]*)*,\s*(\d+)\s*\)")


def features(source: str, tunables: Mapping[str, int]) -> Mapping[str, float]:
    """Compute the numbers of a text with this choice of its tunables.

    There are none for a text without a plan that can be read.
    """
    try:
        file = look(source)
    except SourceError:
        return {}
    code = file.code[file.plan_span[1] :]
    counts = {name: math.log2(1.0 + len(pattern.findall(code))) for name, pattern in COUNTED.items()}
    factors = {"unroll_fixed": _FIXED, "waves": _WAVES}
    fixed = {name: sum(math.log2(1 + int(n)) for n in pattern.findall(code)) for name, pattern in factors.items()}
    return {**counts, **fixed, "launches": float(len(file.plan["launch"])), **_tuned(file, code, tunables)}


def _tuned(file: KernelFile, code: str, tunables: Mapping[str, int]) -> dict[str, float]:
    """Compute the sum of the tunables' logarithms by where they are read."""
    texts = {role: "\n".join(pattern.findall(code)) for role, pattern in _ROLES.items()}
    texts |= {part: " ".join(str(launch.get(part, "")) for launch in file.plan["launch"]) for part in _PLANNED}
    texts["code"] = code
    sums = dict.fromkeys((f"tuned_{role}" for role in texts), 0.0)
    for name, value in tunables.items():
        word = re.compile(rf"\b{re.escape(name)}\b")
        for role, text in texts.items():
            if word.search(text):
                sums[f"tuned_{role}"] += math.log2(1.0 + abs(value))
    return sums
