"""The waits of a question for an endpoint: by hours for what would pass, a few tries for what may not.

An endpoint that never answered may be a wrong address, so that it gets a few tries; one that did is known to be right,
and an outage of it is waited for. Time that is waited is counted, not looked up, so that tests need not wait.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass, field

from agents.model.endpoint import Endpoint
from agents.model.faults import TRIES, Fault

JITTER = 0.1  # on top of what a server asks for, so that parallel callers do not come back at once
MOST_JITTER_S = 5.0


@dataclass
class CallPatience:
    """The waits of one question. `has_answered`: whether the endpoint ever did; `most_s`: in all."""

    endpoint: Endpoint
    has_answered: bool
    most_s: float
    tries: Counter[str] = field(default_factory=Counter)
    waited_s: float = 0.0
    began: float = field(default_factory=time.monotonic)

    def is_over(self, fault: Fault) -> bool:
        """Count a fault, and tell whether it is the last that is borne."""
        self.tries[fault.kind] += 1
        most = TRIES.get(fault.kind)
        if self.endpoint.retries == 0 or (most is not None and self.tries[fault.kind] >= most):
            return True
        is_there = self.has_answered or fault.status == 429  # which only a service says that knows the request
        if not is_there and self.asked > self.endpoint.retries:
            return True
        return max(self.waited_s, time.monotonic() - self.began) + fault.named_s > self.most_s

    @property
    def asked(self) -> int:
        """Requests so far that brought nothing."""
        return sum(self.tries.values())

    def next_wait_s(self, fault: Fault) -> float:
        """Count and give the seconds until the next request: as long as the server asks, or longer each time."""
        end = self.endpoint
        usual = min(end.max_wait_s, end.backoff_s * 2.0 ** min(self.asked - 1, 20))
        seconds = usual * random.uniform(0.5, 1.0)
        if fault.after_s is not None:  # never less than usual: a server may ask for no wait for ever
            seconds = max(seconds, fault.after_s + min(MOST_JITTER_S, fault.after_s * random.uniform(0.0, JITTER)))
        self.waited_s += seconds
        return seconds
