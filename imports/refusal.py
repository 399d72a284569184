"""The reason why something cannot become a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class ImportRefused(Exception):
    """One sentence for the person who asked."""


class ImportUnfitted(ImportRefused):
    """Sizes that are not those that a source can have; others may be.

    `values` are the numbers without an expression, one under each of several sets of sizes; `sizes` are the names of
    those that alone decide them, where that is known.
    """

    def __init__(self, message: str, values: Sequence[float] = ()) -> None:
        super().__init__(message)
        self.values, self.sizes = tuple(values), tuple[str, ...]()


class ImportUnrolled(ImportUnfitted):
    """Operations that change with sizes, as in a loop over one."""


class ImportDiffers(ImportUnfitted):
    """A translation that does not give what the original gives."""


RECORDS = "--golden records its answers instead, which is weaker"
ORDINARY = (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, NotImplementedError)
FAULTS = (*ORDINARY, RuntimeError, SyntaxError, TypeError, ValueError, MemoryError, OSError)  # of a stranger's file


def with_sizes(error: ImportUnfitted, configs: Sequence[Mapping[str, int]]) -> ImportUnfitted:
    """Return the error with the sizes of which each alone decides the numbers that it rests on."""
    if error.values:
        rows = [dict(zip([c[n] for c in configs], error.values, strict=True)) for n in configs[0]]
        pairs = zip(configs[0], rows, strict=True)
        error.sizes = tuple(
            n for n, row in pairs if all(row[c[n]] == v for c, v in zip(configs, error.values, strict=True))
        )
    return error


def named(config: Mapping[str, int]) -> str:
    """Sizes in words."""
    return ", ".join(f"{n} = {v}" for n, v in config.items())


def short(error: BaseException) -> str:
    """Write an error on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
