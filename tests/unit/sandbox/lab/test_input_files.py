from __future__ import annotations

import gc
from pathlib import Path

import numpy as np

from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.inputs.independence import independent_dims
from sandbox.lab.input_files import IDLE, KEPT, InputFiles
from sandbox.lab.timed_inputs import TimedInputs
from tasks.loader import load_task
from tasks.task import Case
from tests.unit.sandbox.lab.test_timed_inputs import arrays_of


def timed(files: InputFiles, folder: Path, rows: int, cols: int) -> TimedInputs:
    task, case = load_task("row_softmax"), Case("big", {"rows": rows, "cols": cols}, 5, role="benchmark")
    rng = np.random.default_rng(rows)
    return TimedInputs(InputFamilies(task), case, independent_dims(task), folder, rng, files=files)


def test_a_file_that_nobody_needs_is_written_over_and_goes_with_the_last(tmp_path: Path) -> None:
    files = InputFiles()
    first, other = timed(files, tmp_path, 2001, 601), timed(files, tmp_path, 2003, 601)
    alive = arrays_of(other)["x"]
    assert len(list(tmp_path.iterdir())) == 2
    del first
    gc.collect()
    inputs = timed(files, tmp_path, 1801, 599)  # shorter than what lies in the file
    assert len(list(tmp_path.iterdir())) == 2
    fresh = timed(InputFiles(), tmp_path, 1801, 599)
    np.testing.assert_array_equal(arrays_of(inputs)["x"], arrays_of(fresh)["x"])
    np.testing.assert_array_equal(arrays_of(other)["x"], alive)
    del inputs, other, fresh, files
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_few_files_wait_and_one_that_is_gone_or_lies_elsewhere_is_made_anew(tmp_path: Path) -> None:
    files, (near, far) = InputFiles(), (tmp_path / "here", tmp_path / "there")
    for folder in (near, far):
        folder.mkdir()
    opened = [files.open(near, KEPT.start) for _ in range(IDLE + 2)]
    for path, file in opened:
        file.truncate(KEPT.start)
        file.close()
        files.give_back(path)
    waiting = list(near.iterdir())
    assert len(waiting) == IDLE
    waiting[0].unlink()
    small, file = files.open(near, KEPT.start - 1)
    file.close()
    files.give_back(small)
    assert list(near.iterdir()) == waiting[1:], "a small one does not wait, nor takes a large one's place"
    path, file = files.open(far, KEPT.start)
    file.truncate(KEPT.start)
    file.close()
    assert path.parent == far and list(near.iterdir()) == []
    files.give_back(path)
    reopened, file = files.open(far, KEPT.start)
    file.close()
    assert reopened == path
