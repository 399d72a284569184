"""Evaluations whose commit waits for the disk, and those that are there with the next commit that does."""

from __future__ import annotations

from records.evaluation import Evaluation

CHEAP = frozenset({"compile", "estimate"})  # purposes that a compiler or a model answers again in seconds


def must_wait(purpose: str) -> bool:
    """Tell whether the result is dear to make again."""
    return purpose not in CHEAP


def is_conclusion(purpose: str, evaluation: Evaluation) -> bool:
    """Tell whether this is an accepted benchmark, which ends its experiment: one commit writes it with the attempt.

    After a refused one others may take minutes.
    """
    return purpose == "benchmark" and evaluation.verdict.accepted
