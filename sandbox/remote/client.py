"""A sandbox whose answers come from elsewhere: through a spool folder or from a served worker.

The first question about a source carries everything that may be asked next; later ones are answered from that bundle.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from records.errors import Pending, SpoolError, TaskError
from records.evaluation import Comparison, Contender, Evaluation, Rival, comparison_key
from sandbox.base import HARNESS
from sandbox.candidate.parse import parse
from sandbox.candidate.resolve import choices
from sandbox.candidate.tuning import Tuning
from sandbox.remote.bundle import FILES
from sandbox.remote.message import Place, Request, Result
from sandbox.target import Target
from tasks.loader import FOLDER
from tasks.task import Task

Choices = Callable[[str, Task], tuple[Mapping[str, int], ...]]


class Post(Protocol):
    """The way to the workers."""

    id: str  # part of every key

    def place(self, target: str) -> Place | None:
        """Where results for a target come from, as far as it is known."""

    def ask(self, request: Request) -> Result:
        """The answer; Pending where it is not there yet."""

    def has_result(self, request: Request) -> bool:
        """Whether asking would find an answer that is there already."""


def legal_choices(source: str, task: Task) -> tuple[Mapping[str, int], ...]:
    """Every combination of tunables by the source's own launch plan."""
    return choices(parse(source), task)


class Remote:
    """The graph's sandbox over a post. Safe for threads."""

    def __init__(self, post: Post, name: str, target: Target, seed: int, find_choices: Choices = legal_choices) -> None:
        """`name` is where it is, for people; `seed` drives the held-out inputs."""
        self.target = target
        self._post, self._name, self._seed = post, name, seed
        self._find_choices = find_choices
        self._known: dict[tuple[str, str], Evaluation] = {}
        self._compared: dict[str, Comparison] = {}
        self._announced: dict[str, Request] = {}  # by the key of the source with its defaults
        self._loaded: set[str] = set()
        self._lock = threading.Lock()

    @property
    def device(self) -> str:
        """The workers' device; before the first of them is known, where they will be asked."""
        place = self._post.place(self.target.name)
        return place.device if place else self._name

    @property
    def version(self) -> str:
        """What compiles and drives there."""
        place = self._post.place(self.target.name)
        return place.version if place else ""

    def key(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> str:
        """SHA-256 over everything the evaluation depends on; the place is fixed by the folder's or the worker's id."""
        return self._request(source, task, tunables).key(source, tunables)

    def choices(self, source: str, task: Task) -> tuple[Mapping[str, int], ...]:
        """Every legal combination of tunables, the default first."""
        return self._find_choices(source, task)

    def announce(self, source: str, task: Task, tuning: Tuning, rival: Rival | None = None) -> None:
        """Say what will be asked of a source, so that its first question carries it all."""
        request = replace(self._request(source, task, None, ("compile", "verify")), tuning=tuning, rival=rival)
        with self._lock:
            self._announced[request.key(source, None)] = request

    def compile(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Evaluation:
        """Parse and compile."""
        return self._evaluation("compile", source, task, tunables)

    def verify(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Evaluation:
        """Compile, execute and compare."""
        return self._evaluation("verify", source, task, tunables)

    def benchmark(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Evaluation:
        """Verify, then time."""
        return self._evaluation("benchmark", source, task, tunables)

    def estimate(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Evaluation:
        """Compile and time without verifying."""
        return self._evaluation("estimate", source, task, tunables)

    def compare(self, challenger: Contender, incumbent: Contender, task: Task) -> Comparison:
        """Time two kernels in turns."""
        request = replace(self._request(challenger.source, task, challenger.tunables), incumbent=incumbent)
        key = comparison_key(*(request.key(c.source, c.tunables) for c in (challenger, incumbent)))
        if key not in self._compared:
            self._take_what_is_there()
        if key not in self._compared:
            self._load(request)
        if key not in self._compared:
            raise SpoolError(f"the answer to {request.hash[:12]} compares other kernels; please report this")
        return self._compared[key]

    def _request(
        self, source: str, task: Task, tunables: Mapping[str, int] | None, purposes: tuple[str, ...] = ()
    ) -> Request:
        return Request(
            HARNESS,
            self.target.name,
            self._post.id,
            self._seed,
            task.name,
            task.digest,
            source,
            tunables,
            purposes,
            files=own_files(task),
        )

    def _evaluation(self, purpose: str, source: str, task: Task, tunables: Mapping[str, int] | None) -> Evaluation:
        plain = self._request(source, task, tunables, (purpose,))
        key = plain.key(source, tunables)
        if (purpose, key) not in self._known:
            self._take_what_is_there()
        for request in (self._announced.get(plain.key(source, None)), plain):
            if (purpose, key) not in self._known and request is not None and request.hash not in self._loaded:
                self._load(request)
        if (purpose, key) not in self._known:
            raise SpoolError(f"the answer to {plain.hash[:12]} lacks what was asked for; please report this")
        return self._known[purpose, key]

    def _take_what_is_there(self) -> None:
        """Bundles of announced sources that have arrived: one of them may hold a tuned variant that is asked for."""
        for request in list(self._announced.values()):
            if request.hash not in self._loaded and self._post.has_result(request):
                with suppress(Pending):
                    self._load(request)

    def _load(self, request: Request) -> None:
        result = self._post.ask(request)
        with self._lock:
            self._loaded.add(request.hash)
            if result.comparison is not None:
                self._compared.setdefault(result.comparison.key, result.comparison)
            for entry in result.entries:
                self._known.setdefault((entry.purpose, entry.evaluation.key), entry.evaluation)


def own_files(task: Task) -> dict[str, str]:
    """The files that travel with a task that is none of the shipped ones."""
    if task.folder.parent == FOLDER or not (task.folder / FILES[0]).is_file():
        return {}
    try:
        return {name: (task.folder / name).read_text(encoding="utf-8") for name in FILES}
    except (OSError, UnicodeDecodeError) as error:
        raise TaskError(f"the task folder {task.folder} cannot be read ({error}); mend it, then resume") from None
