"""The judge on a real GPU: right kernels, faults and who is blamed for them, and cheats that only a device can show.

python3 -m tests.gpu.test_judge      the same without pytest
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.fault_kernels import FAULTS, RIGHT, Fault
from records.errors import ScientistError
from sandbox.gpu.gpu_evaluator import GpuEvaluator, Rules
from sandbox.gpu.gpu_pool import device_indices
from sandbox.target import load_target
from tasks.loader import load_task
from tests.kernels.exploits.exploits import FOLDER, Expected, Exploit, complaint, exploits

TARGETS = ("h200", "mi300x")
CHEATS = (
    "A9_call_counter",
    "A9_lds_call_counter",
    "A10_next_call_too",
    "B1_nothing_written",
    "B1_old_answer_kept",
    "B1_only_poison_replaced",
    "B13_workspace_as_memory",
    "B14_weights_kept",
    "B5_cache_by_first_words",
    "B5_cache_by_pointer",
    "B5_sums_kept_in_lds",
    "B6_last_call",
    "B7_replay_by_shape",
    "B8_result_bank",
    "E1_address",
)
RULES = Rules(deadline_s=3.0)  # a call waits for those of other tests: they share the GPU
MINE = {"h200": FAULTS, "mi300x": tuple(f for f in FAULTS if f.name not in ("trap", "device assert"))}


def open_judge(folder: Path) -> tuple[str, GpuEvaluator] | None:
    """The judge of this machine's GPU; None where there is none that we know."""
    for name in TARGETS:
        target = load_target(name)
        if device_indices(target):
            return name, GpuEvaluator(target, folder, 0, rules=RULES)
    return None


def cheats() -> list[Exploit]:
    """Those of the corpus that keep something from call to call, or look at addresses."""
    return [one for one in exploits("device") if one.name in CHEATS]


def blamed_wrongly(judge: GpuEvaluator, fault: Fault) -> str:
    """The fault in the verdict on a fault, or with the next one; empty when nothing is."""
    task, number = load_task(FOLDER / "tasks" / "scale"), time.monotonic_ns() % 1_000_000_000
    verdict = judge.verify(judge.prepare(fault.source(number), task)).verdict
    told = [(f.kind, f.message) for f in verdict.findings]
    if verdict.accepted or not {f.kind for f in verdict.findings} <= fault.kinds:
        return f"{fault.name}: {verdict.stage} {told}"
    after = judge.verify(judge.prepare(RIGHT.source(number), task)).verdict
    return "" if after.accepted else f"the right kernel after {fault.name}: {after.findings}"


def not_timed(judge: GpuEvaluator) -> str:
    """The fault in a right kernel's evaluation."""
    made = judge.benchmark(judge.prepare(RIGHT.source(1), load_task(FOLDER / "tasks" / "scale")))
    if not made.verdict.accepted or not made.measurements or made.geomean_us is None:
        return f"the right kernel: {made.verdict}"
    return "" if 0.5 < made.geomean_us < 1000 else f"the right kernel takes {made.geomean_us} us"


def not_refused(judge: GpuEvaluator, exploit: Exploit) -> str:
    """The fault in the verdict on a cheat; one that does the whole work all the same is also timed."""
    expected = exploit.expected["device"]
    said = judge.benchmark(judge.prepare(exploit.source, exploit.task, exploit.tunables or None))
    if expected.outcome == "defused" and not said.verdict.accepted:
        return ""  # refused is as good as defused
    wrong = complaint(expected, said)
    return f"{exploit.name}: {wrong}" if wrong else ""


def twin_refused(judge: GpuEvaluator, exploit: Exploit) -> str:
    """The fault in the verdict on the honest kernel beside it."""
    wrong = complaint(Expected("defused"), judge.verify(judge.prepare(exploit.twin, exploit.task)))
    return f"the twin of {exploit.name}: {wrong}" if wrong else ""


def every_check(name: str, judge: GpuEvaluator) -> Iterator[tuple[str, str]]:
    """Names and complaints, one after the other."""
    yield "a right kernel is timed", not_timed(judge)
    for fault in MINE[name]:
        yield fault.name, blamed_wrongly(judge, fault)
    for exploit in cheats():
        yield exploit.name, not_refused(judge, exploit)
        yield f"twin of {exploit.name}", twin_refused(judge, exploit)
    yield f"fence: {judge.isolation}", "nothing confines it" if judge.isolation.startswith("open") else ""
    yield "no quarantine", "" if not judge.gpus.quarantined() else "the GPU is in quarantine"


def main() -> int:
    """Run everything; the status is 1 when something is not as it must be."""
    with tempfile.TemporaryDirectory() as folder:
        found = open_judge(Path(folder))
        if found is None:
            sys.stdout.write("no GPU here\n")
            return 0
        bad = 0
        started = time.monotonic()
        try:
            for name, complaint_ in every_check(*found):
                bad += bool(complaint_)
                sys.stdout.write(f"{time.monotonic() - started:6.1f} s  {name}: {complaint_ or 'as it must be'}\n")
                sys.stdout.flush()
        except ScientistError as error:
            sys.stdout.write(f"ended early: {error}\n")
            bad += 1
        found[1].close()
    return int(bad > 0)


try:
    import pytest
except ImportError:  # a GPU box needs no pytest for `main`
    pass
else:

    @pytest.fixture(scope="module")
    def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, GpuEvaluator]]:
        found = open_judge(tmp_path_factory.mktemp("judge"))
        if found is None:
            pytest.skip("no GPU that a target describes")
        yield found
        found[1].close()

    def test_a_right_kernel_is_timed(named: tuple[str, GpuEvaluator]) -> None:
        assert not_timed(named[1]) == ""

    @pytest.mark.parametrize("fault", FAULTS, ids=lambda one: one.name)
    def test_a_fault_is_blamed_rightly_and_harms_nobody(named: tuple[str, GpuEvaluator], fault: Fault) -> None:
        if fault not in MINE[named[0]]:
            pytest.skip("no such instruction on this GPU")
        assert blamed_wrongly(named[1], fault) == ""

    @pytest.mark.parametrize("exploit", cheats(), ids=lambda one: one.name)
    def test_a_cheat_gains_nothing(named: tuple[str, GpuEvaluator], exploit: Exploit) -> None:
        assert not_refused(named[1], exploit) == ""

    @pytest.mark.parametrize("exploit", cheats(), ids=lambda one: one.name)
    def test_its_honest_twin_is_accepted(named: tuple[str, GpuEvaluator], exploit: Exploit) -> None:
        assert twin_refused(named[1], exploit) == ""

    def test_its_processes_are_fenced_in(named: tuple[str, GpuEvaluator]) -> None:
        assert not named[1].isolation.startswith("open"), named[1].isolation

    def test_no_gpu_is_given_up(named: tuple[str, GpuEvaluator]) -> None:
        assert named[1].gpus.quarantined() == ()


if __name__ == "__main__":
    sys.exit(main())
