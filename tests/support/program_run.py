"""One run of the whole graph whose author is a program, over a sandbox of comments.

Run as `python program_run.py FOLDER PROGRAM ARG...`, it drives such a run in a process that can be killed.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from agents.coding_agent.coding_agent import CodingAgent
from app.program.program_host import ProgramHost
from app.settings import Settings
from graph.context import Context, Limits
from graph.doubles import table_context, table_task
from graph.drive import drive
from records.experiment import Attempt, Run

SEED = "// time_us = 100\n"


class ProgramRun:
    """A run in a folder; made again on the same folder it is resumed."""

    def __init__(self, folder: Path, *words: str, minutes: float = 1.0, settings: Any = None, **limits: Any) -> None:
        self.folder = folder
        (folder / "cache").mkdir(exist_ok=True)
        settings = Settings(runs_folder=folder / "runs", cache_folder=folder / "cache", **(settings or {}))
        task = table_task(folder / "task", SEED)
        most = Limits(**{"generations": 1, "picks": 1, "tries": 6, "dispatch": False} | limits)
        plain = table_context(folder, task, _NOBODY, most)
        self.own = folder / "runs" / plain.run.id
        self.own.mkdir(parents=True, exist_ok=True)
        host = ProgramHost(settings, self.own, words, plain.meter)
        author = CodingAgent(host, minutes)
        self.context: Context = replace(plain, run=replace(plain.run, author="command:program"), author=author)

    def drive(self) -> Run:
        return drive(self.context, self.folder / "checkpoint.db")

    def attempts(self) -> list[Attempt]:
        return [a for a in self.context.ledger.attempts(self.context.run.id) if a.generation]

    def outcomes(self) -> list[tuple[str, str, str]]:
        return [(a.id, a.status, a.tool) for a in self.attempts()]

    def log(self) -> str:
        return (self.own / "program.log").read_text(encoding="utf-8")


class _Nobody:
    name = "command"
    can_begin = True
    reads = False


_NOBODY: Any = _Nobody()

if __name__ == "__main__":
    ProgramRun(Path(sys.argv[1]), *sys.argv[2:]).drive()
