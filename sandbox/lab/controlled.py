"""The blame for a step on a candidate that ends without an answer: the candidate's, unless a control fails as well.

An executor without a result or a linker that fails may be a candidate's doing, and one that could stop a run this way
would. So a known right kernel takes the same steps, under a text that no cache has, and then the candidate once more:
if only the candidate fails, both times, it is rejected; else the machine's fault is raised as it came. A starved host
is asked again, a little later each time, and never decides anything. A step that has an answer never comes here.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from records.errors import HostStarved, MachineError, NoAnswer
from records.evaluation import Evaluation, Finding
from sandbox.candidate.codes import rejected

Answer = TypeVar("Answer")
PAUSES_S = (2.0, 10.0, 30.0)  # before a starved host is asked again


@dataclass(frozen=True)
class Controlled:
    """Steps on candidates that ended without an answer, with a control beside them."""

    control: Callable[[], None]  # the same steps on a right kernel; MachineError where it fares no better
    pause: Callable[[float], None] = time.sleep

    def after(
        self, fault: NoAnswer | HostStarved, begun: Callable[[], Evaluation], step: Callable[[], Evaluation]
    ) -> Evaluation:
        """Return the answer of a step that has just ended in this fault; reject where only this candidate has none."""
        try:
            return self._resumed(step, fault)
        except NoAnswer as error:
            try:
                self._patiently(self.control)
            except MachineError:
                raise error from None
        try:
            return self._patiently(step)
        except NoAnswer as error:
            message = f"the lab has no answer on this kernel, twice, and has one on a right kernel between ({error})"
            return replace(begun(), verdict=rejected("execute", (Finding("timeout", message[:600]),)))

    def _patiently(self, step: Callable[[], Answer]) -> Answer:
        try:
            return step()
        except HostStarved as error:
            return self._resumed(step, error)

    def _resumed(self, step: Callable[[], Answer], fault: NoAnswer | HostStarved) -> Answer:
        """Return the step's answer where the host was starved; any other fault is final."""
        for pause_s in PAUSES_S:
            if not isinstance(fault, HostStarved):
                break
            self.pause(pause_s)
            try:
                return step()
            except HostStarved as error:
                fault = error
        raise fault


def unknown_to_caches(source: str) -> str:
    """Write the same kernel as a text that was never compiled."""
    return f"{source}\nstatic const int control_{secrets.token_hex(8)} = 0;\n"
