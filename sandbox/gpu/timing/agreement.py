"""Do the device's clock and ours agree on what a call takes? Asked so that a busy host is not taken for a false time.

What the host does only ever adds to our clock. So a disagreement counts against a candidate only when a kernel of the
judge's own, timed in the same way right after it, has both clocks agree; and every try takes twice as long as the one
before, in which what a host adds is a smaller part.
"""

from __future__ import annotations

from typing import Protocol

from sandbox.gpu.child_process import ChildFault, ClockReading

AGREE, AGREE_US = 0.05, 2.0  # of the host's time around the calls, or so much
LEAST_SHARE = 0.5  # of the judge's own time around the request, which holds whatever else its process does
LENIENT = 2  # tries, too short to count against anybody
STRIKES = 3  # disagreements while the control agrees
DOUBLINGS = 4  # the longest stretch is 16 times the first
BUSY = (
    "the GPU's clock and the host's disagree even on a kernel of the judge's own: the host is too busy; end what "
    "else runs on it or give it fewer candidates at a time, then resume the run"
)


class Clocked(Protocol):
    """What can be timed by both clocks; each answer is of one call."""

    def two_clocks(self, tag: str, time_us: float, doublings: int) -> ClockReading:
        """Of a candidate that takes about `time_us`."""

    def control(self, doublings: int) -> ClockReading:
        """Of a kernel of the judge's own."""

    def conclude(self) -> None:
        """Wait for what the judge does in the background."""


def disagreement(watch: Clocked, tag: str, time_us: float, tries: int) -> ClockReading | None:
    """None when the clocks agree once, else what they said last. ChildFault when the host is too busy to tell."""
    strikes = 0
    for number in range(tries):
        doublings = min(number, DOUBLINGS)
        said = watch.two_clocks(tag, time_us, doublings)
        if agree(said):
            return None
        if number >= min(LENIENT, tries - 1) and agree(watch.control(doublings)):
            strikes += 1
        if strikes == min(STRIKES, tries):
            return said
        if number:
            watch.conclude()  # our own comparisons may be what slows this side down
    raise ChildFault(BUSY, None, lost=False)


def agree(said: ClockReading) -> bool:
    """Whether the device's clock accounts for the time that passed by ours."""
    return (
        said.device_us >= said.calls_us - max(AGREE * said.calls_us, AGREE_US)
        and said.device_us >= LEAST_SHARE * said.request_us - AGREE_US
    )
