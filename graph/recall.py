"""Memory over runs for a run that begins: findings of earlier runs on its task or on a similar one, as lines of text.

They are suggestions of prompts and nothing else: no verdict, no choice of the graph and no time rests on them. A
recollection whose attempt the ledger no longer has as accepted is not told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from graph.finding import facts, mark
from knowledge.tokens import words
from records.experiment import Attempt, Experiment
from records.ledger import Ledger
from records.memories import MEMORY_KINDS, Recollection
from tasks.loader import task_names
from tasks.task import Task

_RUN = re.compile(r"\d{8}-\d{6}")
_FORMS = (re.compile(r"g\d{3,6}-e\d{1,4}-a\d{1,4}"), re.compile(r"[a-z]{1,6}\d{1,4}[a-z]?"), re.compile(r"[\d-]{10}"))
BYTES_A_TOKEN = 4  # of English prose, roughly
LIKE = 0.25  # the least likeness that is told: tasks that share two words of five have 0.25
OTHER_TARGET = 0.6  # of the likeness where the GPU is another
OTHER_TEXT = 0.9  # of the likeness where a task of this name has changed since
LONGEST = 400  # characters of one finding
_SAID = {"winner": "fastest kernel", "lesson": "lesson, shown by an ablation", "refuted": "refuted by an ablation"}


@dataclass(frozen=True)
class Recalled:
    """A finding of an earlier run with the records it rests on."""

    recollection: Recollection
    attempt: Attempt
    experiment: Experiment
    parent: Attempt | None
    author: str  # of its run
    likeness: float  # 1 for the same task and target

    @property
    def text(self) -> str:
        """One line with its provenance: run, kernel, task, its digest, target, date.

        Each of them is told in the form that this program gives it: a ledger from elsewhere may hold words there.
        """
        r = self.recollection
        task = r.task if r.task in task_names() else "a task that is not shipped"
        kernel, target, day = map(_formed, _FORMS, (r.attempt_id, r.target, r.at[:10]))
        provenance = f"run {_short(r.run_id)}, kernel {kernel}, {task} ({mark(r.task_digest)}) on {target}, {day}"
        return f"{_SAID[r.kind]} ({provenance}): {plain_line(self.finding)}"

    @property
    def finding(self) -> str:
        """The finding as facts of its records."""
        return facts(self.recollection.kind, self.author, self.experiment, self.attempt, self.parent)


def _formed(form: re.Pattern[str], text: str) -> str:
    return text if form.fullmatch(text) else mark(text)


def _short(run_id: str) -> str:
    """Return the beginning of a run's id, by which it is found: what follows is the name of its task."""
    found = _RUN.match(run_id)
    return found[0] if found else mark(run_id)


def recalled(ledger: Ledger, task: Task, target: str) -> list[Recalled]:
    """List the findings for a task and a target, the most alike first, of equals the newest."""
    task_words = frozenset(words(f"{task.title}. {task.description}"))
    findings = list[Recalled]()
    for recollection in reversed(ledger.recollections()):
        likeness = _likeness(recollection, task, task_words, target)
        current = _with_records(ledger, recollection, likeness) if likeness >= LIKE else None
        if current is not None:
            findings.append(current)
    return sorted(findings, key=lambda r: -r.likeness)


def finding_of(ledger: Ledger, recollection: Recollection) -> str:
    """Return the words of one recollection; empty where its kernel is no longer accepted."""
    current = _with_records(ledger, recollection, 1.0)
    return "" if current is None else plain_line(current.finding)


def lines_within(findings: Sequence[Recalled], tokens: int) -> tuple[str, ...]:
    """List the lines that fit into so many tokens; winners, lessons and refuted ideas take turns."""
    by_kind = [[r.text for r in findings if r.recollection.kind == kind] for kind in MEMORY_KINDS]
    return tuple(_within(tokens, (line for line in chain.from_iterable(zip_longest(*by_kind)) if line)))


def winners(findings: Sequence[Recalled], task: Task, target: str) -> list[Recalled]:
    """Find the fastest kernels of earlier runs on this very task and target: only they can be begun with."""
    return [
        r
        for r in findings
        if r.recollection.kind == "winner"
        and (r.recollection.task_digest, r.recollection.target) == (task.digest, target)
    ]


def _within(tokens: int, lines: Iterable[str]) -> Iterable[str]:
    left = tokens * BYTES_A_TOKEN
    for line in lines:
        size = len(line.encode()) + 2  # the mark before it and the line's end
        if size <= left:
            left -= size
            yield line


def _likeness(r: Recollection, task: Task, task_words: frozenset[str], target: str) -> float:
    if r.withdrawn:
        return 0.0
    target_weight = 1.0 if r.target == target else OTHER_TARGET
    if r.task_digest == task.digest:
        return target_weight
    other = frozenset(words(r.about))
    shared = len(task_words & other) / max(1, len(task_words | other))
    return target_weight * (max(OTHER_TEXT, shared) if r.task == task.name else shared)


def _with_records(ledger: Ledger, recollection: Recollection, likeness: float) -> Recalled | None:
    """Return the finding as the ledger has it now; None where it is no longer what was remembered."""
    attempt = ledger.attempt(recollection.run_id, recollection.attempt_id)
    if attempt is None or attempt.status != "accepted":
        return None
    experiment = ledger.experiment(recollection.run_id, attempt.experiment_id)
    standing = {"lesson": "shown", "refuted": "refuted"}.get(recollection.kind, attempt.standing)
    if experiment is None or attempt.standing != standing:
        return None
    parent = ledger.attempt(recollection.run_id, attempt.parent_id) if attempt.parent_id else None
    return Recalled(recollection, attempt, experiment, parent, ledger.run(recollection.run_id).author, likeness)


def plain_line(text: str) -> str:
    """One line without what could end a block of a prompt."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).replace("`", "'").split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
