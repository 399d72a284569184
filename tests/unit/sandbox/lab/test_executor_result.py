from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from sandbox.lab.executor_request import PART, Buffer, MemoryLayout, lay_out, poison_of
from sandbox.lab.executor_result import AnswerBounds, NoResult, check_files, is_slow, read_outputs, read_result

ASKED = AnswerBounds(totals=(10,), blocks=(10,), recorded=0, lanes=64, regions=2)
ROW = {
    **{"executed": 10, "failed": 0, "work": 20, "busy": 1, "works": [], "most": 4, "atomic": False, "barriers": 3},
    **{"reads_intermediate": False, "ns": 5, "cpu_ns": 5, "recorded": None},
}
GOOD: dict[str, Any] = {
    **{"timed_out": False, "findings": [], "outcomes": "0123", "atomics": [0, 1], "accesses": 7},
    "launches": [ROW],
}
FINDING = {
    "kind": "race", "launch": 0, "write": 1, "size": 4, "region": 1, "block": [0, 0, 0], "thread": [1, 2, 3],
    "address": 1, "detail": 1, "offset": -4, "other": [0, 0], "places": [5],
}  # fmt: skip


def read(folder: Path, answer: Any, request: AnswerBounds = ASKED) -> dict[str, Any]:
    (folder / "result.json").write_text(answer if isinstance(answer, str) else json.dumps(answer), encoding="utf-8")
    return read_result(folder, request)


def test_a_result_that_can_be_true_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD) == GOOD
    answer = {**GOOD, "findings": [FINDING], "launches": [{**ROW, "executed": 2}]}
    assert read(tmp_path, answer)["findings"][0]["offset"] == -4


@pytest.mark.parametrize(
    "change",
    [
        {"launches": [{**ROW, "executed": 9}]},
        {"launches": [{**ROW, "executed": 11}]},
        {"launches": [{**ROW, "failed": 11}]},
        {"launches": [{**ROW, "ns": -1}]},
        {"launches": [{**ROW, "cpu_ns": -1}]},
        {"launches": [{**ROW, "executed": True}]},
        {"launches": []},
        {"launches": [ROW, ROW]},
        {"timed_out": True},
        {"timed_out": 0},
        {"atomics": [0]},
        {"accesses": 1 << 63},
        {"accesses": 1.0},
        {"more": 1},
        {"findings": [{**FINDING, "kind": "other"}]},
        {"findings": [{**FINDING, "launch": 1}]},
        {"findings": [{**FINDING, "region": 2}]},
        {"findings": [{**FINDING, "detail": 3}]},
        {"findings": [{**FINDING, "kind": "input_written", "region": -1}]},
        {"findings": [{**FINDING, "places": [0] * 25}]},
        {"findings": [FINDING] * 65},
        {"outcomes": "4"},
        {"outcomes": [0, 1]},
        {"findings": [{**FINDING, "thread": ["1", 2, 3]}]},
    ],
)
def test_a_result_that_cannot_be_true_is_none(tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(NoResult):
        read(tmp_path, {**GOOD, **change})


@pytest.mark.parametrize("text", ["", "{", "[" * 1_000_000, "null", "[]", " " * (9 << 20)])
def test_a_text_that_is_no_result_is_none(tmp_path: Path, text: str) -> None:
    with pytest.raises(NoResult):
        read(tmp_path, text)


def filled(folder: Path) -> MemoryLayout:
    layout = lay_out(
        (Buffer("y", np.zeros(5, np.float32), "output"), Buffer("z", np.zeros(3, np.int8), "output")), count=False
    )
    memory = np.zeros(layout.memory, np.uint8)
    for region in layout.regions:
        memory[region.file_offset : region.file_offset + region.size] = np.resize(
            np.frombuffer(region.poison, np.uint8), region.size
        )
    memory[layout.regions[0].file_offset + 4] ^= 1
    memory.tofile(folder / "memory.bin")
    marks = np.zeros(layout.masks, np.uint8)
    marks[layout.regions[0].mask_offset + 8 : layout.regions[0].mask_offset + 12] = 1
    marks.tofile(folder / "masks.bin")
    return layout


def test_what_does_not_hold_its_poison_counts_as_written_whatever_the_mask_says(tmp_path: Path) -> None:
    layout = filled(tmp_path)
    check_files(tmp_path, layout.masks, layout.memory)
    outputs = read_outputs(tmp_path, layout.regions)
    assert outputs["y"][1].tolist() == [False, True, True, False, False] and not outputs["z"][1].any()


def test_outputs_outlive_their_folder_and_change_none_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    layout = filled(tmp_path / "run")
    before = (tmp_path / "run" / "memory.bin").read_bytes()
    values = read_outputs(tmp_path / "run", layout.regions)["y"][0]
    copied = values.copy()
    values[0] = 7
    assert (tmp_path / "run" / "memory.bin").read_bytes() == before
    shutil.rmtree(tmp_path / "run")
    assert values[0] == 7 and values[1:].tobytes() == copied[1:].tobytes()


@pytest.mark.parametrize("name", ["memory.bin", "masks.bin"])
def test_a_file_that_is_cut_linked_or_gone_is_no_output(tmp_path: Path, name: str) -> None:
    layout = filled(tmp_path)
    path = tmp_path / name
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    with pytest.raises(NoResult):
        check_files(tmp_path, layout.masks, layout.memory)
    path.rename(tmp_path / "other")
    path.symlink_to("other")
    with pytest.raises(NoResult):
        check_files(tmp_path, layout.masks, layout.memory)
    path.unlink()
    with pytest.raises(OSError, match=name):
        check_files(tmp_path, layout.masks, layout.memory)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_poison_is_not_a_number_and_differs_from_draw_to_draw(kind: Any) -> None:
    drawn = {poison_of(np.dtype(kind)) for _ in range(20)}
    assert len(drawn) > 3 and all(np.isnan(np.frombuffer(word, kind).astype(np.float64)).all() for word in drawn)
    assert all(len(word) == 8 for word in drawn)


def test_buffers_lie_at_random_places_that_no_two_layouts_share() -> None:
    buffers = [Buffer(str(n), np.zeros(100_000, np.float32), "output") for n in range(4)]
    layouts = [lay_out(buffers, count=False) for _ in range(32)]
    assert len({r[1].address - r[0].address for r in (x.regions for x in layouts)}) > 4
    assert len({tuple(np.argsort([r.address for r in x.regions])) for x in layouts}) > 2
    for layout in layouts:
        spans = sorted((r.address, r.address + r.size) for r in layout.regions)
        assert all(after[0] - before[1] >= 1 << 20 for before, after in pairwise(spans))
        assert all(r.address % PART == 0 for r in layout.regions)
    lowest = {r.address // PART % 64 for layout in layouts for r in layout.regions}
    assert len(lowest) > 20  # a kernel that looks at any bits of an address meets both
    aligned = {tuple(r.address % (2 << 20) == 0 for r in layout.regions) for layout in layouts}
    assert len(aligned) > 4  # a kernel that looks at one address or at two meets every combination


@pytest.mark.parametrize(
    ("spent", "is_watching", "slow"),
    [
        ([], False, False),
        ([100], False, False),
        ([10, 10, 10, 9], False, True),
        ([10, 10, 10, 19], False, True),
        ([10, 10, 10, 21], False, False),
        ([10, 19], False, False),
        ([10, 10, 10, 9], True, False),
    ],
)
def test_a_plan_is_slow_where_its_deadline_comes_between_launches_of_like_length(
    spent: list[int], is_watching: bool, slow: bool
) -> None:
    late = {**FINDING, "kind": "timeout", "write": int(is_watching)}
    answer = {**GOOD, "findings": [late], "launches": [{**ROW, "cpu_ns": cpu_ns} for cpu_ns in spent]}
    assert is_slow(answer) is slow
    assert not is_slow({**answer, "findings": [FINDING]})
