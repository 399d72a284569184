"""The graph's sandbox over a cluster: every question goes to a station, under the key of a local evaluator there.

So a verdict that was paid for on one machine is found by every run on machines of that kind, and a run on a cluster
ends with the ledger of a local one.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from cluster.cluster_link import ClusterLink
from records.codec import dumps
from records.errors import SpoolError
from records.evaluation import Comparison, Contender, Evaluation, comparison_key
from sandbox.base import SandboxBase
from sandbox.by_purpose import ByPurpose
from sandbox.candidate.prepare import Prepared
from sandbox.judge_digest import judge_digest
from sandbox.remote.client import own_files
from sandbox.remote.message import Place, Request, Result, pack, problem_of, unpack
from sandbox.target import Target
from sandbox.walk import Purpose


class ClusterSandbox(ByPurpose, SandboxBase):
    """Verdicts and times of one kind of place. Safe for threads: as many questions are open as are asked."""

    def __init__(self, link: ClusterLink, place: Place, target: Target, seed: int, run: str) -> None:
        """`seed` drives the held-out inputs of a lab; the stations are shared fairly between runs."""
        self.target, self.device, self.version = target, place.device, place.version
        self.policy = (seed,) if place.device.startswith("lab:") else ("secret inputs",)
        self.place, self._link, self._seed, self._run = place, link, seed, run

    def compare(self, challenger: Prepared, incumbent: Prepared) -> Comparison:
        """Time two kernels in turns, on one GPU."""
        request = replace(self._request(challenger), incumbent=Contender(incumbent.source, incumbent.tunables))
        comparison = self._answer(request, challenger).comparison
        assert comparison is not None  # `problem_of` has looked
        new, old = self.key(challenger), self.key(incumbent)
        return replace(comparison, key=comparison_key(new, old), challenger=new, incumbent=old)

    def _evaluation(self, purpose: Purpose, prepared: Prepared) -> Evaluation:
        if prepared.refusal is not None:  # no station knows more
            return self._begun(prepared)
        evaluation = self._answer(replace(self._request(prepared), purposes=(purpose,)), prepared).entries[0].evaluation
        return replace(evaluation, key=self.key(prepared))

    def _request(self, prepared: Prepared) -> Request:
        task = prepared.task
        return Request(
            judge_digest(),
            self.target.name,
            place_id(self.place),
            self._seed if self.policy == (self._seed,) else 0,
            task.name,
            task.origin or task.digest,
            prepared.source,
            prepared.tunables,
            files=own_files(task),
            edges=task.edges,
        )

    def _answer(self, request: Request, prepared: Prepared) -> Result:
        data = self._link.ask(self._run, self.place, prepared.id, request.hash, pack(request))
        try:
            result = unpack(Result, data)
        except SpoolError as error:
            raise SpoolError(f"the answer of a station {error}; please report this") from None
        why = problem_of(result, request, self.place)
        if why:
            raise SpoolError(f"the answer of a station {why}; please report this")
        if result.refusal:
            raise SpoolError(f"a station refused a request: {result.refusal}; then resume the run")
        return result


def place_id(place: Place) -> str:
    """Name a kind of place, as a run's record keeps it."""
    return hashlib.sha256(dumps(place).encode()).hexdigest()[:32]
