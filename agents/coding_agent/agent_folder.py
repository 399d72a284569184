"""The folder of a coding agent as the run fills and reads it: the task in, candidates out, verdicts beside them.

The program may change everything in it, so nothing here is believed: a candidate is judged as any text is, and what was
tried is told by the bench.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.author import Assignment, Specimen
from agents.bench import Checked
from agents.coding_agent.host import WorkspaceFiles
from agents.scientist.templates import rendered_of
from agents.scientist.views import specimen_view, work_view
from records.errors import UsageError
from records.experiment import Experiment
from records.quantity import given, plain

PROMPTS = Path(__file__).parent / "prompts"
CANDIDATES, VERDICTS, KERNELS = "candidates", "verdicts", "kernels"
ENDING = ".hip"


@dataclass(frozen=True)
class SubmittedFile:
    """A kernel file that the program has put into its folder."""

    name: str
    source: str
    digest: str


class AgentFolder:
    """The texts of one session."""

    def __init__(self, files: WorkspaceFiles, judged: Collection[str]) -> None:
        """Make the folders that are not there. `judged`: digests of candidates that are not judged again."""
        self.files = files
        self._judged, self._refused = set(judged), dict[str, str]()  # why a file cannot be read, by its name
        self._waiting: dict[str, str] = {}  # digest of a text at the last look, by file: it may still be written
        self._lines: list[str] = []
        for folder in (CANDIDATES, VERDICTS, KERNELS):
            files.make_folder(folder)

    def lay_out(
        self, work: Assignment, experiment: Experiment, base: Specimen, reference: Specimen | None, **values: Any
    ) -> str:
        """Write the task and the kernels to begin from; the prompt."""
        views = {
            **work_view(work),
            "experiment": experiment,
            "base": specimen_view(base),
            "reference": specimen_view(reference) if reference else None,
            "folders": {"candidates": CANDIDATES, "verdicts": VERDICTS, "kernels": KERNELS},
            **values,
        }
        prompt = rendered_of(PROMPTS, "task.md.j2", **views)
        self._write("TASK.md", prompt + "\n")
        self._write("AGENTS.md", rendered_of(PROMPTS, "agents.md.j2", **views) + "\n")
        if base.source:
            self._write("base.hip", base.source)
        if reference is not None:
            self._write("reference.hip", reference.source)
        return prompt

    def note(self, checked: Checked, change: str) -> None:
        """Write down a try: its kernel, and a line of the list of what was done."""
        kernel = checked.kernel
        self._write(f"{KERNELS}/{kernel.name}{ENDING}", kernel.source)
        time_us = kernel.evaluation.geomean_us
        is_timed = time_us is not None and kernel.is_verified
        outcome = f"{plain(given(time_us, 0.0))} us {kernel.evaluation.time_kind}" if is_timed else checked.reason
        line = "; ".join(filter(None, (f"- `{kernel.name}`: {checked.status}", outcome, change)))
        if line not in self._lines:
            self._lines.append(line)
        session = kernel.name.rpartition("-")[0]
        self._write(f"{KERNELS}/{session}.md", f"# Kernels judged in {session}\n\n" + "\n".join(self._lines) + "\n")

    def submitted(self, is_over: bool = False) -> Iterator[SubmittedFile]:
        """Yield the candidates that are new and stayed as they were since the last look.

        `is_over`: the program has ended, so that none is still being written.
        """
        for name in self.files.names(CANDIDATES, ENDING):
            text = self._read(name)
            digest = hashlib.sha256(text.encode()).hexdigest()
            is_whole = is_over or self._waiting.get(name) == digest
            self._waiting[name] = digest
            if text.strip() and is_whole and digest not in self._judged:
                self._judged.add(digest)
                yield SubmittedFile(name, text, digest)

    def _read(self, name: str) -> str:
        """Read a candidate; one that cannot be read is told so, once."""
        try:
            return self.files.read(f"{CANDIDATES}/{name}")
        except UsageError as error:
            if self._refused.get(name) != str(error):
                self._refused[name] = str(error)
                self.tell(name, f"Not judged: {error}.")
            return ""

    def tell(self, name: str, text: str) -> None:
        """Write what became of a candidate."""
        self._write(f"{VERDICTS}/{name.removesuffix(ENDING)}.md", text + "\n")

    def _write(self, name: str, text: str) -> None:
        """Write for the program; where it has put something else in the place, it does without."""
        try:
            self.files.write(name, text.encode(), replace=True)
        except UsageError:
            return
