"""The reason why something cannot become a task."""

from __future__ import annotations


class ImportRefused(Exception):
    """One sentence for the person who asked."""


class ImportDiffers(ImportRefused):
    """A translation that does not give what the original gives."""


RECORDS = "--golden records its answers instead, which is weaker"
ORDINARY = (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, NotImplementedError)
FAULTS = (*ORDINARY, RuntimeError, SyntaxError, TypeError, ValueError, MemoryError, OSError)  # of a stranger's file
