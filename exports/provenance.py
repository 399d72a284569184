"""The origin of an exported kernel, in the sentences that every export carries."""

from __future__ import annotations

from dataclasses import dataclass

from records.program_version import program_version


@dataclass(frozen=True)
class Provenance:
    """Facts about the kernel; empty strings where they are not known."""

    task: str
    target: str  # in words: AMD Instinct MI300X (gfx942)
    digest: str  # SHA-256 of the normalised source
    run: str = ""  # run and attempt
    verified_on: str = ""  # the lab, or a device's name
    time_us: float | None = None  # geometric mean over the benchmark cases
    time_kind: str = ""  # measured or predicted
    bound_us: float = 0.0  # what no kernel of this code can beat; 0 where it is not known
    frozen: tuple[str, ...] = ()  # parameters of the original with the one value that they have here


def spoken(text: str) -> str:
    """Write a title or a name as one line that no comment, docstring or quoted string of an export ends at."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(printable.replace("\\", "/").replace('"', "'").replace("*/", "* /").split()).rstrip(".")


def lines_of(provenance: Provenance) -> list[str]:
    """Sentences of some 110 characters."""
    exporter = f"GPU Kernel Scientist {program_version()}"
    rows = [
        f"A kernel for the task {spoken(provenance.task)} on the {provenance.target}, exported by {exporter}.",
        f"Source {provenance.digest[:16]}" + (f", of the run {provenance.run}." if provenance.run else "."),
        f"Verified: {provenance.verified_on}."
        if provenance.verified_on
        else "Not verified by this export: `kernel-scientist check` gives a verdict.",
    ]
    if provenance.frozen:
        rows.append(f"Frozen, as verified with one value alone: {', '.join(map(spoken, provenance.frozen))}.")
    if provenance.time_us is not None:
        kind = "Predicted time, never measured" if provenance.time_kind == "predicted" else "Measured time"
        bound = f", predicted bound {provenance.bound_us:.2f} us" if provenance.bound_us else ""
        rows.append(f"{kind}: {provenance.time_us:.2f} us{bound}, geometric mean over the benchmark cases.")
    return rows
