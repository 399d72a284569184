"""Searches by name: what a published method does of what this program can do, as limits of a run."""

from __future__ import annotations

from collections.abc import Mapping

from records.errors import UsageError

PAPER: Mapping[str, float] = {  # experiments are planned, picked, written and judged; nothing more is done with them
    "explorations": 0,
    "tunings": 1,
    "tries": 0,
    "answers": 0,
    "ablations": 0,
    "dispatch": 0,
    "attainable_fraction": 0,
    "memory_tokens": 0,
    "taxonomy": 0,
    "predictor": 0,
}
FSR: Mapping[str, float] = {**PAPER, "greedy": 1}
SCHEMES: Mapping[str, Mapping[str, float]] = {
    "paper": PAPER,  # GPU Kernel Scientist, arXiv 2506.20807
    "fsr": FSR,  # CUDA-LLM's Feature Search and Reinforcement, arXiv 2506.09092: each round begins with the fastest
    "seki": {**FSR, "inspiration": 3},  # arXiv 2502.20422: later rounds begin with kernels drawn from the fastest
}


def limits_of_scheme(name: str | None) -> Mapping[str, float]:
    """Return the limits of a named search; none without a name. UsageError for a name that there is not."""
    if name is None:
        return {}
    if name not in SCHEMES:
        raise UsageError(f"there is no search {name!r}; there are {', '.join(SCHEMES)}")
    return SCHEMES[name]
