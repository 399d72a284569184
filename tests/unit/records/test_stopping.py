"""Waits that a signal ends, in whichever thread they are."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from records.stopping import WaitStopped, pause, stoppable


def test_a_wait_of_hours_ends_when_the_process_is_asked_to_stop() -> None:
    ended = list[str]()

    def wait() -> None:
        try:
            pause(3600.0)
        except WaitStopped:
            ended.append("stopped")

    with pytest.raises(KeyboardInterrupt), stoppable():
        thread = threading.Thread(target=wait)
        thread.start()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5.0)  # the handler runs in this thread, at its next step
    thread.join(60.0)
    assert ended == ["stopped"]


def test_another_run_in_the_same_process_may_wait_again() -> None:
    with stoppable():
        pause(0.0)
