"""The status that a run is left in by a fault, a pause or a stop."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from records.errors import MachineError, RunStopped, UsageError
from records.ledger import Ledger


@contextlib.contextmanager
def left(ledger: Ledger, run_id: str) -> Iterator[None]:
    """Note in the ledger how the block leaves the run, where it raises; the fault goes on.

    A machine at fault, a stop and a closed pipe of whoever watches leave a run that can go on. A
    request that cannot be leaves a failed one.
    """
    try:
        yield
    except MachineError as error:
        ledger.finish(run_id, "paused", str(error), "machine")
        raise
    except UsageError as error:
        ledger.finish(run_id, "failed", str(error))
        raise
    except (RunStopped, KeyboardInterrupt):
        ledger.finish(run_id, "paused", "interrupted", "interrupted")
        raise
    except BrokenPipeError:  # of `progress`
        ledger.finish(run_id, "paused", "its progress is no longer read", "unread")
        raise
