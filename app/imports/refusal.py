"""The reason why something cannot become a task."""

from __future__ import annotations


class ImportRefused(Exception):
    """One sentence for the person who asked."""


class ImportUnfitted(ImportRefused):
    """Sizes that are not those that a source can have; others may be."""


class ImportDiffers(ImportUnfitted):
    """A translation that does not give what the original gives."""


RECORDS = "--golden records its answers instead, which is weaker"
ORDINARY = (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, NotImplementedError)
FAULTS = (*ORDINARY, RuntimeError, SyntaxError, TypeError, ValueError, MemoryError, OSError)  # of a stranger's file
