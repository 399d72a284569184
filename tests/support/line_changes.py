"""A book of changes for sources of claims: each change adds its lines once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from records.evaluation import Evaluation


class LineChanges:
    """`book` names the lines that each change adds; those named in `safe` may be tried at once."""

    def __init__(self, book: Mapping[str, str], safe: Sequence[str] = ()) -> None:
        self._book, self._safe = book, safe

    def offers(self, source: str) -> tuple[str, ...]:
        return tuple(handle for handle in self._book if f"// did {handle}\n" not in source)

    def together(self, handles: Sequence[str]) -> tuple[str, ...]:
        return tuple(handle for handle in handles if handle in self._safe)

    def refusals(self, source: str) -> tuple[str, ...]:
        return ()

    def apply(self, source: str, handle: str) -> str:
        return f"{source}// did {handle}\n{self._book[handle]}"

    def title(self, handle: str) -> str:
        return handle.replace(":", " ")

    def promise(self, handle: str, evaluation: Evaluation) -> float:
        return 20.0
