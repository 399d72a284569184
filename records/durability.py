"""Evaluations whose commit waits for the disk, and those that are there with the next commit that does."""

from __future__ import annotations

from records.evaluation import Evaluation

CHEAP = frozenset({"compile", "estimate"})  # purposes that a compiler or a model answers again in seconds


def must_wait(purpose: str, evaluation: Evaluation) -> bool:
    """True for what is dear to make again, unless its attempt is written at once: that commit brings both to the disk.

    An accepted benchmark ends its experiment; after a refused one others may take minutes.
    """
    is_followed = purpose == "benchmark" and evaluation.verdict.accepted
    return purpose not in CHEAP and not is_followed
