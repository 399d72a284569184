"""Tests of a GPU in several processes: who needs it alone has it alone, and is not passed by those who share it."""

from __future__ import annotations

import threading
from pathlib import Path

from tests.gpu.test_judge import CHEATS
from tests.kernels.exploits.exploits import exploits
from tests.support.gpu_turns import ALONE, gpu_turn


def test_who_needs_the_gpu_alone_meets_nobody(tmp_path: Path) -> None:
    inside: list[bool] = []
    met: list[list[bool]] = []
    together = threading.Barrier(4)

    def take(is_alone: bool) -> None:
        for number in range(20):
            with gpu_turn(tmp_path, alone=is_alone):
                inside.append(is_alone)
                if not number and not is_alone:
                    together.wait(60)  # those who share are there together
                met.append(list(inside))
                inside.remove(is_alone)

    threads = [threading.Thread(target=take, args=(False,)) for _ in range(3)]
    threads.append(threading.Thread(target=take, args=(True,)))
    for thread in threads[:3]:
        thread.start()
    together.wait(60)
    threads[3].start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert len(met) == 80 and all(len(meeting) == 1 for meeting in met if True in meeting)


def test_nobody_passes_one_that_waits_to_be_alone(tmp_path: Path) -> None:
    order: list[str] = []
    first_in, may_end = threading.Event(), threading.Event()

    def take(name: str, is_alone: bool) -> None:
        with gpu_turn(tmp_path, alone=is_alone):
            order.append(name)
            first_in.set()
            if name == "first":
                may_end.wait(60)

    threads = [threading.Thread(target=take, args=("first", False))]
    threads[0].start()
    assert first_in.wait(60)
    for name, is_alone in (("alone", True), ("late", False)):
        threads.append(threading.Thread(target=take, args=(name, is_alone)))
        threads[-1].start()
        threads[-1].join(0.3)  # it stands in the queue before the next one comes
        assert threads[-1].is_alive()
    may_end.set()
    for thread in threads:
        thread.join(60)
    assert order == ["first", "alone", "late"]


def test_every_exploit_that_keeps_something_in_lds_is_alone() -> None:
    names = {exploit.name for exploit in exploits("device") if "lds" in exploit.name and exploit.name in CHEATS}
    assert names == set(ALONE)
