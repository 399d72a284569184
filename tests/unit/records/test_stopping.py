"""One signal stops whoever works, waits or begins, in whichever thread, and is as new when all have left."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from records.errors import RunStopped
from records.stopping import StopSignal, interruptible, stoppable
from sandbox.process import ProcessLimits, run


def test_ctrl_c_ends_a_wait_of_hours_in_another_thread() -> None:
    stop, ended = StopSignal(), list[str]()

    def wait() -> None:
        try:
            stop.pause(3600.0)
        except RunStopped:
            ended.append("stopped")

    with pytest.raises(KeyboardInterrupt), stoppable(stop):
        thread = threading.Thread(target=wait)
        thread.start()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5.0)  # the handler runs in this thread, at its next step
    thread.join(60.0)
    assert ended == ["stopped"]


def test_it_holds_until_all_who_are_at_work_have_left() -> None:
    stop = StopSignal()
    with stop.working():
        stop.begin()
        stop.ask()
        stop.end()
        with pytest.raises(RunStopped):
            stop.check()
    with stop.working():
        stop.pause(0.0)


def test_work_does_not_begin_after_it_was_asked() -> None:
    stop, begun = StopSignal(), []
    stop.ask()
    with pytest.raises(RunStopped), stop.working():
        begun.append(1)
    assert not begun


@pytest.mark.parametrize("is_asked_before", [True, False])
def test_a_signal_that_is_reached_follows_while_the_block_lasts(is_asked_before: bool) -> None:
    cause, run_stop, after = StopSignal(), StopSignal(), StopSignal()
    if is_asked_before:
        cause.ask()
    with cause.reaching(run_stop):
        cause.ask()
    with cause.reaching(after):
        pass
    assert run_stop.is_asked


def test_a_program_at_work_is_ended_and_none_is_started_afterwards(tmp_path: Path) -> None:
    stop, witness = StopSignal(), tmp_path / "begun"
    argv = [sys.executable, "-c", f"open({str(witness)!r}, 'w').close(); import time; time.sleep(600)"]

    def ask() -> None:
        while not witness.exists():
            time.sleep(0.01)
        stop.ask()

    threading.Thread(target=ask).start()
    with pytest.raises(RunStopped):
        run(argv, cwd=tmp_path, env={}, limits=ProcessLimits(), stop=stop)
    witness.unlink()
    with pytest.raises(RunStopped):
        run(argv, cwd=tmp_path, env={}, limits=ProcessLimits(), stop=stop)
    assert not witness.exists()


def test_a_connection_is_cut_where_the_block_goes_on_after_its_grace() -> None:
    stop, cut = StopSignal(), threading.Event()
    with stop.cutting(cut.set):
        stop.ask()
        assert cut.wait(30.0)


def test_python_s_own_interrupt_asks_first() -> None:
    stop = StopSignal()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a program begun in the background has not
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), interruptible(stop):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5.0)
    assert stop.is_asked and signal.getsignal(signal.SIGINT) is before
