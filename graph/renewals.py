"""Leases of the claims that a run holds, renewed by one thread for all of them."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable

from records.claims import LEASE_S
from records.errors import LedgerError

EACH_S = LEASE_S / 3  # between two renewals: one may fail


class Renewals:
    """The claims of one run that are renewed until they are dropped."""

    def __init__(self, claim: Callable[[str, str], object], each_s: float = EACH_S) -> None:
        """`claim` claims a key for a purpose again; LedgerError where the database is busy."""
        self._claim, self._each_s = claim, each_s
        self._held: Counter[tuple[str, str]] = Counter()  # two experiments of a run may make the same verdict
        self._lock = threading.Lock()  # held while leases are renewed, so that none is that was dropped
        self._thread: threading.Thread | None = None

    def hold(self, key: str, purpose: str) -> None:
        """Renew the lease of this claim from now on. A thread for each would cost more than most claims hold for."""
        with self._lock:
            self._held[key, purpose] += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._renew, name="renewals", daemon=True)
                self._thread.start()

    def drop(self, key: str, purpose: str) -> None:
        """Leave its lease alone, once all who hold it say so; when this returns, no renewal of it is under way."""
        with self._lock:
            self._held -= Counter({(key, purpose): 1})

    def _renew(self) -> None:
        pause = threading.Event()
        while not pause.wait(self._each_s):
            with self._lock:
                if not self._held:
                    self._thread = None
                    return
                for key, purpose in self._held:
                    with contextlib.suppress(LedgerError):  # the next renewal is in time
                        self._claim(key, purpose)
