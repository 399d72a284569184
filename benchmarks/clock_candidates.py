"""The kernels among which `clock_winners` lets a clock choose: seeds, choices of their tunables, single moves."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.author import Assignment
from agents.playbook.changes import Changes
from agents.source import read
from sandbox.candidate.prepare import prepare
from sandbox.target import Target
from tasks.loader import load_task, task_names
from tasks.task import Task

CHOICES = 48  # of the tunables of a seed: those next to its default first, then an even sample of the others


@dataclass(frozen=True)
class ClockCandidate:
    """A kernel of a task: a seed with a choice of its tunables, or with one move of the playbook."""

    task: str
    seed: str  # the file's name
    move: str  # handle of the playbook's move; empty for the seed itself
    source: str
    choice: Mapping[str, int]
    folder: str = ""  # of a task that is not shipped, from the repository's root

    @property
    def label(self) -> str:
        """Seed, move and choice in a few words."""
        choice = " ".join(f"{name}={value}" for name, value in self.choice.items())
        return " ".join(part for part in (self.seed.removesuffix(".hip"), self.move, choice) if part)

    @property
    def key(self) -> str:
        """Digest of task, code and choice; comments and the order of a tunable's values do not count."""
        choice = ",".join(f"{name}={value}" for name, value in sorted(self.choice.items()))
        text = f"{self.task} {read(self.source).fingerprint} {choice}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def lab_tasks(target: Target) -> list[Task]:
    """All shipped tasks that are for this target."""
    tasks = [load_task(name) for name in task_names()]
    return [load_task(task.name, target.name) for task in tasks if target.name in task.targets]


def candidates(task: Task, target: Target) -> list[ClockCandidate]:
    """All kernels of a task, each once; of its seeds the last is the tuned one, which the moves are applied to."""
    several = [candidate for path in task.seeds for candidate in _choices(path, task)]
    several += _moved(task.seeds[-1], task, target)
    return list({candidate.key: candidate for candidate in several}.values())


def _choices(path: Path, task: Task) -> list[ClockCandidate]:
    source = path.read_text(encoding="utf-8")
    choices = prepare(source, task).choices
    near = [c for c in choices if sum(c[name] != value for name, value in choices[0].items()) <= 1]
    far = [c for c in choices if c not in near]
    step = max(1, -(-len(far) // max(1, CHOICES - len(near))))
    return [ClockCandidate(task.name, path.name, "", source, choice) for choice in (*near, *far[::step])]


def _moved(path: Path, task: Task, target: Target) -> list[ClockCandidate]:
    changes = Changes(Assignment(task, target.brief.strip(), target.name, target.arch, 0))
    source, moved = path.read_text(encoding="utf-8"), list[ClockCandidate]()
    for handle in changes.offers(source):
        text = changes.apply(source, handle)
        choice = prepare(text, task).tunables
        moved.append(ClockCandidate(task.name, path.name, handle, text, choice))
    return moved


def shipped_key(some: Sequence[ClockCandidate]) -> str:
    """Give the key of the tuned seed of one task's candidates with its defaults: the first choice of the last seed."""
    seed = some[-1].seed
    return next(candidate.key for candidate in some if candidate.seed == seed and not candidate.move)
