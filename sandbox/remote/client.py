"""A sandbox whose answers come from elsewhere: through a spool folder or from a served worker.

The first question about a source carries everything that may be asked next; later ones are answered from that bundle.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from records.errors import Pending, SpoolError, TaskError
from records.evaluation import Comparison, Contender, Evaluation, Rival, comparison_key
from records.files import read_strange
from sandbox.by_purpose import ByPurpose
from sandbox.candidate.prepare import Prepared, Preparer
from sandbox.candidate.tuning import Tuning
from sandbox.judge_digest import judge_digest
from sandbox.remote.bundle import FILES
from sandbox.remote.message import Place, Request, Result
from sandbox.target import Target
from sandbox.walk import Purpose
from tasks.loader import FOLDER, MOST_TEXT_BYTES
from tasks.task import Task


class Post(Protocol):
    """The way to the workers."""

    id: str  # part of every key

    def place(self, target: str) -> Place | None:
        """Return the place that results for a target come from, as far as it is known."""

    def ask(self, request: Request) -> Result:
        """Return the answer; Pending where it is not there yet."""

    def has_result(self, request: Request) -> bool:
        """Tell whether an answer is there already."""


class Remote(ByPurpose):
    """The graph's sandbox over a post. Safe for threads."""

    def __init__(self, post: Post, name: str, target: Target, seed: int, preparer: Preparer | None = None) -> None:
        """`name` is the place, for people; `seed` drives the held-out inputs; `preparer` reads the candidates."""
        self.target = target
        self._post, self._name, self._seed = post, name, seed
        self._preparer = preparer or Preparer()
        self._evaluations: dict[tuple[str, str], Evaluation] = {}
        self._compared: dict[str, Comparison] = {}
        self._announced: dict[str, Request] = {}  # by the key of the source with its defaults
        self._refused: dict[str, tuple[str, ...]] = {}  # results put aside while another one was asked for
        self._loaded: set[str] = set()
        self._lock = threading.Lock()

    @property
    def device(self) -> str:
        """The workers' device; before the first of them is known, where they will be asked."""
        place = self._post.place(self.target.name)
        return place.device if place else self._name

    @property
    def version(self) -> str:
        """The compiler and the driver there."""
        place = self._post.place(self.target.name)
        return place.version if place else ""

    def prepare(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Prepared:
        """Read a candidate, in the form that every other method takes; a source is read once."""
        return self._preparer.prepare(source, task, tunables)

    def key(self, prepared: Prepared) -> str:
        """Hash everything the evaluation depends on by SHA-256; the folder's or the worker's id fixes the place."""
        return self._request(prepared).key(prepared)

    def announce(self, prepared: Prepared, tuning: Tuning, rival: Rival | None = None) -> None:
        """Tell the workers with the first question about a candidate what will be asked next."""
        request = replace(self._request(prepared, ("compile", "verify")), tuning=tuning, rival=rival)
        with self._lock:
            self._announced[request.key(prepared)] = request

    def compare(self, challenger: Prepared, incumbent: Prepared) -> Comparison:
        """Time two kernels in turns."""
        request = replace(self._request(challenger), incumbent=Contender(incumbent.source, incumbent.tunables))
        key = comparison_key(request.key(challenger), request.key(incumbent))
        if key not in self._compared:
            self._take_what_is_there()
        if key not in self._compared:
            self._load(request)
        if key not in self._compared:
            raise SpoolError(f"the answer to {request.hash[:12]} compares other kernels; please report this")
        mine, other = self.key(challenger), self.key(incumbent)  # which two parts of a task do not share
        return replace(self._compared[key], key=comparison_key(mine, other), challenger=mine, incumbent=other)

    def _request(self, prepared: Prepared, purposes: tuple[str, ...] = ()) -> Request:
        task = prepared.task
        return Request(
            judge_digest(),
            self.target.name,
            self._post.id,
            self._seed,
            task.name,
            task.origin or task.digest,
            prepared.source,
            prepared.tunables,
            purposes,
            files=own_files(task),
            edges=task.edges,
        )

    def _evaluation(self, purpose: Purpose, prepared: Prepared) -> Evaluation:
        plain = self._request(prepared, (purpose,))
        key = plain.key(prepared)
        if (purpose, key) not in self._evaluations:
            self._take_what_is_there()
        for request in (self._announced.get(plain.key(prepared.choose({}))), plain):
            if (purpose, key) not in self._evaluations and request is not None and request.hash not in self._loaded:
                self._load(request)
        if (purpose, key) not in self._evaluations:
            raise SpoolError(f"the answer to {plain.hash[:12]} lacks what was asked for; please report this")
        return self._evaluations[purpose, key]

    def _take_what_is_there(self) -> None:
        """Load bundles of announced sources that have arrived: one of them may hold the tuned variant asked for."""
        for request in list(self._announced.values()):
            if request.hash not in self._loaded and self._post.has_result(request):
                try:
                    self._load(request)
                except Pending as pending:
                    self._refused[request.hash] = pending.refused

    def _load(self, request: Request) -> None:
        try:
            result = self._post.ask(request)
        except Pending as pending:
            refusals = (*self._refused.pop(request.hash, ()), *pending.refused)
            raise Pending(str(pending), pending.awaited, pending.place, refusals) from None
        with self._lock:
            self._loaded.add(request.hash)
            if result.comparison is not None:
                self._compared.setdefault(result.comparison.key, result.comparison)
            for entry in result.entries:
                self._evaluations.setdefault((entry.purpose, entry.evaluation.key), entry.evaluation)


def own_files(task: Task) -> dict[str, str]:
    """Read the files that travel with a task that is none of the shipped ones."""
    if task.folder.parent == FOLDER or not (task.folder / FILES[0]).is_file():
        return {}
    if task.golden is not None:
        raise TaskError(
            f"the task {task.name} has recorded answers, which do not travel to a worker; judge it on this machine"
        )
    try:
        return {name: read_strange(task.folder / name, MOST_TEXT_BYTES).decode("utf-8") for name in FILES}
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"the task folder {task.folder} cannot be read ({error}); repair it, then resume") from None
