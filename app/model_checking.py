"""The check of a package in this process, which has PyTorch and, where times are asked for, the GPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from records.errors import MachineError, UsageError

if TYPE_CHECKING:
    from exports.models.check.verdict import ModelCheck


def checked(
    package: Path, source: str, kernels_from: str, draws: int, rounds: int, say: Callable[[str], None]
) -> ModelCheck:
    """Check the model with the package's kernels; UsageError for what is no model or no package."""
    try:
        from exports.models.check.checking import Rules, check
        from exports.models.check.subject import read_subject
    except ImportError:
        raise UsageError(
            "a model is run by PyTorch, which is not installed here: kernel-scientist setup torch"
        ) from None
    subject = read_subject(package, source, kernels_from)
    try:
        return check(subject, Rules(draws, rounds), say)
    except (RuntimeError, TypeError, ValueError, OSError) as error:
        text = " ".join(str(error).split())[:300]
        raise MachineError(f"the check of {source} ended in {type(error).__name__}: {text}") from None
