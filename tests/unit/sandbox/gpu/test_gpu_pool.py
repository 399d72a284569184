"""The GPUs that candidates get, and those that are given up: only those that the judge's own kernel finds wrong."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import pytest

from records.errors import DeviceError, ToolchainError
from sandbox.gpu.child_fault import ChildFault
from sandbox.gpu.child_link import GpuSlot
from sandbox.gpu.child_process import ChildProcess
from sandbox.gpu.child_replies import OpenReply
from sandbox.gpu.driver.driver import GpuProperties
from sandbox.gpu.gpu_pool import MOST_FAULTS, GpuPool
from sandbox.gpu.layout import noise

PACE_S = 0.02
ONE, TWO = GpuSlot("amd", 0), GpuSlot("amd", 1)


class Computing(ChildProcess):
    """A child without a process: it computes right, or not."""

    def __init__(self, slot: GpuSlot, machine: Machine) -> None:
        self.slot, self.is_broken, self.machine, self.is_closed = slot, False, machine, False
        self.asked_s = 0.0

    @property
    def is_alive(self) -> bool:
        return self not in self.machine.dead

    def open(self) -> OpenReply:
        if self.machine.opens and self.machine.opens.pop(0):
            raise DeviceError("the driver does not answer")
        return OpenReply(GpuProperties("a GPU", "gfx942", "7.0", 1 << 30, {}), 1 << 30)

    def trust(self, image: bytes) -> None:
        assert image == b"own"

    def noise(self, seed: int, words: int) -> tuple[int, ...]:
        self.machine.sentinels.append(self.slot.index)
        values = noise(seed, words).tolist()
        return tuple(n ^ (self.slot.index in self.machine.wrong) for n in values)

    def close(self) -> bool:
        if isinstance(self.machine, Slow):
            self.machine.take_long()
        self.is_closed = True
        return self.slot.index not in self.machine.immortal


class Machine:
    """GPUs by number: which compute wrong results, which processes cannot be killed."""

    def __init__(self) -> None:
        self.wrong: set[int] = set()
        self.immortal: set[int] = set()
        self.opens: list[bool] = []  # whether the next ones fail
        self.sentinels: list[int] = []
        self.dead: list[Computing] = []
        self.children: list[Computing] = []

    def gpus(self, *slots: GpuSlot, spares: int = 0, image: Callable[[], bytes] = lambda: b"own") -> GpuPool:
        return GpuPool(slots, image, spares, self.make)

    def make(self, slot: GpuSlot) -> ChildProcess:
        self.children.append(Computing(slot, self))
        return self.children[-1]

    def left(self) -> list[Computing]:
        return [s for s in self.children if not s.is_closed]


class Slow(Machine):
    """Processes take a while to begin and to end; counts those that are at it."""

    def __init__(self) -> None:
        super().__init__()
        self.at_it = self.most = 0
        self._lock = threading.Lock()

    def make(self, slot: GpuSlot) -> ChildProcess:
        self.take_long()
        return super().make(slot)

    def take_long(self) -> None:
        with self._lock:
            self.at_it += 1
            self.most = max(self.most, self.at_it)
        time.sleep(PACE_S)
        with self._lock:
            self.at_it -= 1


def test_a_gpu_that_computes_wrong_results_is_given_up_after_three() -> None:
    machine = Machine()
    machine.wrong.add(0)
    gpus = machine.gpus(ONE)
    with pytest.raises(DeviceError, match=r"4096 of 4096 words.*restart the machine"), gpus.child():
        raise AssertionError
    assert gpus.quarantined() == (ONE,) and len(machine.sentinels) == MOST_FAULTS
    with pytest.raises(DeviceError, match="restart the machine"), gpus.child():
        raise AssertionError
    assert len(machine.children) == MOST_FAULTS and machine.left() == []


def test_faults_of_candidates_never_count_and_each_is_followed_by_a_sentinel() -> None:
    machine = Machine()
    gpus = machine.gpus(ONE)
    for _ in range(3 * MOST_FAULTS):
        with pytest.raises(ChildFault), gpus.child() as child:
            child.is_broken = True
            raise ChildFault("outside", "out_of_bounds", lost=False)
    assert gpus.quarantined() == () and len(machine.sentinels) == 3 * MOST_FAULTS
    with gpus.child():
        pass
    before = len(machine.sentinels)
    with gpus.child():
        pass
    assert len(machine.sentinels) == before, "after a good child the GPU is no suspect"
    assert machine.left() == []


def test_faults_of_the_device_count() -> None:
    machine = Machine()
    gpus = machine.gpus(ONE)
    for number in range(MOST_FAULTS):
        assert gpus.quarantined() == (), number
        with gpus.child() as child:
            gpus.blame_device(child)
    assert gpus.quarantined() == (ONE,)


def test_a_process_that_cannot_be_killed_ends_its_gpu() -> None:
    machine = Machine()
    machine.immortal.add(0)
    gpus = machine.gpus(ONE, TWO)
    with gpus.child() as child:
        assert child.slot == ONE
    assert gpus.quarantined() == (ONE,)
    with gpus.child() as child:
        assert child.slot == TWO


def test_another_gpu_takes_the_work_of_one_that_is_given_up() -> None:
    machine = Machine()
    machine.wrong.add(0)
    gpus = machine.gpus(ONE, TWO)
    with gpus.child() as child:
        assert child.slot == TWO
    assert gpus.quarantined() == (ONE,) and machine.left() == []


def test_a_spare_that_died_of_the_fault_before_it_is_not_the_devices_fault() -> None:
    machine = Machine()
    gpus = machine.gpus(ONE, spares=1)
    for _ in range(2 * MOST_FAULTS):
        with gpus.child() as child:
            child.is_broken = True
        machine.opens = [True]
    with gpus.child(is_timed=True):
        assert len(machine.left()) == 1, "while one is timed none begins"
    with gpus.child():
        pass
    assert gpus.quarantined() == ()
    gpus.close()
    assert machine.left() == []


def test_no_process_begins_or_ends_while_a_candidate_is_timed() -> None:
    machine = Slow()
    gpus = machine.gpus(ONE, spares=2)
    for _ in range(3):
        with gpus.child():  # the one before it ends, and spares begin, while this one has the GPU
            pass
        with gpus.child(is_timed=True) as child:
            child.before_windows()
            assert machine.at_it == 0
            begun, ended = len(machine.children), len(machine.children) - len(machine.left())
            time.sleep(2 * PACE_S)
            assert (begun, ended) == (len(machine.children), len(machine.children) - len(machine.left()))
    assert len(machine.children) >= 6 and 1 < machine.most <= 5, "four spawners and the one who asks"
    gpus.close()
    assert machine.left() == [] and gpus.quarantined() == () and gpus.asked_s == 0.0


def test_processes_that_died_while_they_waited_are_put_aside_and_nobody_is_blamed() -> None:
    machine = Machine()
    gpus = machine.gpus(ONE, spares=MOST_FAULTS)
    with gpus.child():
        pass
    wait(gpus._gpus[0].spares)
    machine.dead, before = machine.left(), len(machine.sentinels)
    assert len(machine.dead) >= 2 * MOST_FAULTS - 1, "those that have the driver open, and those that have not"
    with gpus.child(is_timed=True) as child:
        assert child not in machine.dead
    assert len(machine.sentinels) == before + 1, "something has happened to them"
    assert gpus._gpus[0].faults == 0
    gpus.close()
    assert machine.left() == []


def test_a_child_that_is_given_back_after_the_end_leaves_no_process() -> None:
    machine = Machine()
    gpus = machine.gpus(ONE, spares=2)
    with gpus.child():
        pass
    with gpus.child(is_timed=True):
        gpus.close()
        assert len(machine.left()) == 1
    assert machine.left() == []


def test_a_process_that_cannot_be_killed_in_the_background_ends_its_gpu_as_well() -> None:
    machine = Machine()
    machine.immortal.add(0)
    gpus = machine.gpus(ONE, TWO, spares=1)
    with gpus.child() as child:
        assert child.slot == ONE
    wait(gpus._gpus[0].ending)
    assert gpus.quarantined() == (ONE,)
    gpus.close()


def test_kernels_of_the_judge_that_do_not_compile_leave_no_process() -> None:
    def image() -> bytes:
        raise ToolchainError("the judge's own kernels do not compile")

    machine = Machine()
    gpus = machine.gpus(ONE, image=image)
    for _ in range(2):  # the GPU is free again
        with pytest.raises(ToolchainError), gpus.child():
            raise AssertionError
    assert machine.left() == [] and gpus.quarantined() == ()


def test_several_threads_share_several_gpus_one_each() -> None:
    machine, lock = Machine(), threading.Lock()
    gpus = machine.gpus(ONE, TWO)
    busy: set[int] = set()
    most, barrier = [0], threading.Barrier(2)

    def work(number: int) -> int:
        with gpus.child() as child:
            with lock:
                assert child.slot.index not in busy, "two at a time on one GPU"
                busy.add(child.slot.index)
                most[0] = max(most[0], len(busy))
            if number < 2:
                barrier.wait(10)  # only passes when both GPUs are in use at once
            with lock:
                busy.remove(child.slot.index)
            return child.slot.index

    with ThreadPoolExecutor(4) as pool:
        used = list(pool.map(work, range(40)))
    assert most[0] == 2 and set(used) == {0, 1}
    assert machine.left() == [] and gpus.held_s > 0
