"""Passages of the literature as a run reads them, and the record of each reading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ReaderRole = Literal["planner", "writer", "repairer", "critic", "search"]
BYTES_A_TOKEN = 4  # of English prose and code, roughly


@dataclass(frozen=True)
class Quotation:
    """A passage as a prompt quotes it. Without text it is one that the same experiment has read before."""

    id: str  # by which an idea cites it
    document: str
    title: str
    section: str  # heading path, "A > B"
    source: str
    text: str

    @property
    def head(self) -> str:
        """Id, title, section and source in one line."""
        inside = self.section.removeprefix(self.title).removeprefix(" > ")  # a page's first heading is its title
        heading = f"{self.title}: {inside}" if inside else self.title
        return f"[{self.id}] {heading} (source: {self.source})"

    @property
    def tokens(self) -> int:
        """The size in a prompt, estimated without a tokeniser."""
        return -(-len(f"{self.head}\n{self.text}".encode("utf-8", "replace")) // BYTES_A_TOKEN)


@dataclass(frozen=True)
class Shown:
    """One passage of a reading: which query found it, at which place of that query's ranking."""

    passage: str
    document: str
    title: str
    section: str
    source: str
    query: str = ""  # empty for one that stands there because the idea cites it
    rank: int = 0  # from 1; 0 for a cited one


@dataclass(frozen=True)
class PassageReading:
    """The passages that one prompt quoted; written once, so that a run that is resumed quotes the same."""

    run_id: str
    place: str  # of the prompt in the run: "g002" for its planner, else an experiment and what was asked there
    role: ReaderRole
    generation: int
    experiment_id: str  # empty for the planner
    number: int  # of the draft that is written, repaired or criticised
    queries: tuple[str, ...]
    shown: tuple[Shown, ...]
    quoted: str  # artefact digest of the quotations
