from __future__ import annotations

import subprocess
import sys

import numpy as np

from tasks.distinct import distinct


def test_values_and_rows_come_once_and_in_order() -> None:
    assert distinct(np.array([[3, 1], [3, 2]])).tolist() == [1, 2, 3]
    assert distinct(np.array([[3, 1], [0, 2], [3, 1]]), axis=0).tolist() == [[0, 2], [3, 1]]
    assert distinct(np.array([], np.int64)).tolist() == []


def test_masked_arrays_are_not_loaded() -> None:
    program = (
        "import sys, numpy as np; from tasks.distinct import distinct; "
        "distinct(np.arange(3)), distinct(np.ones((2, 2)), 0); assert 'numpy.ma' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
