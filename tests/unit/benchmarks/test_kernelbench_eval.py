"""The figures of KernelBench's own evaluation."""

from __future__ import annotations

from benchmarks.kernelbench_eval import figures

SAID = {"compiled": True, "correct": True}
OUT = {"told": "{'runtime_error_name': 'torch.OutOfMemoryError'}"}  # another evaluation held the memory
GOOD = {"judge": {"right": "OK", "wrong": "C.1"}, "kernelbench": {"right": SAID, "wrong": {**SAID, "correct": False}}}


def test_a_problem_counts_where_both_verdicts_are_known_and_right() -> None:
    fooled = {"judge": {"right": "OK", "wrong": "OK"}, "kernelbench": {"right": SAID, "wrong": SAID}}
    silent = {"judge": {"right": "C.1", "wrong": "C.1"}, "kernelbench": {"right": {"told": "out of time"}, "wrong": {}}}
    full = {"judge": GOOD["judge"], "kernelbench": {**GOOD["kernelbench"], "right": {**SAID, "correct": False, **OUT}}}
    by_name = {
        f.figure: (f.value, f.anchor_value)
        for f in figures({"a": GOOD, "b": GOOD, "c": fooled, "d": silent, "e": full})
    }
    assert by_name == {
        "kernelbench_eval.judged": (3, 5),
        "kernelbench_eval.right_taken": (3, 3),
        "kernelbench_eval.wrong_refused": (2, 3),
    }
