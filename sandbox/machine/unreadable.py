"""The refusal of a listing: what stands where, and why it cannot be executed."""

from __future__ import annotations

from records.errors import ScientistError


class UnreadableListing(ScientistError):
    """A listing holds something that the decoder does not know; `name` is that something.

    `row` is the line of the listing (from 1, 0 where it is none), `location` the source's file and line, if it has one.
    """

    def __init__(
        self, reason: str, name: str, row: int = 0, text: str = "", location: tuple[str, int] = ("", 0)
    ) -> None:
        super().__init__(f"{reason}: {name}" + (f" (line {row} of the listing: {text})" if row else ""))
        self.reason, self.name, self.row, self.text, self.location = reason, name, row, text, location

    def placed(self, row: int, text: str, location: tuple[str, int]) -> UnreadableListing:
        """Give this refusal its place, where none is known yet."""
        return self if self.row else type(self)(self.reason, self.name, row, text, location)


class UndefinedName(UnreadableListing):
    """A listing refers to a symbol that neither it nor any library of the device has."""

    def __init__(
        self, reason: str, name: str, row: int = 0, text: str = "", location: tuple[str, int] = ("", 0)
    ) -> None:
        super().__init__(reason or "this symbol is not defined", name, row, text, location)
