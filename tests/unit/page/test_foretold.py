"""Predictions of measured kernels are found by source, tunables and GPU, and compared case by case."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from page import Extras, RunReader
from page.foretold import foretold
from records.agreement import Pair


def predicted(notebook: Any, key: str, time_us: float, **more: Any) -> None:
    """The lab's estimate of a kernel of the notebook, all of which have one source and one choice of tunables."""
    evaluation = notebook.ledger.evaluation(notebook.ledger.attempts(notebook.run.id)[0].evaluation_key)
    row = replace(evaluation.measurements[0], kind="predicted", device="lab:mi300x", time_us=time_us, bound="hbm")
    prediction = replace(evaluation, key=key, measurements=(row,))
    device = more.pop("device", "")
    if device:
        prediction = replace(prediction, measurements=(replace(row, device=device),))
    notebook.ledger.add_evaluation(notebook.run.id, replace(prediction, **more), "estimate")


def test_the_newest_prediction_of_the_same_kernel_on_the_same_gpu_counts(notebook: Any) -> None:
    notebook.start()
    attempt = notebook.attempt(0, 0, 20.0, kind="measured")
    assert foretold(notebook.ledger, notebook.run, [attempt]) == ()
    predicted(notebook, "older", 99.0)
    predicted(notebook, "newer", 8.0)
    predicted(notebook, "other tunables", 1.0, tunables={"OTHER": 1})
    predicted(notebook, "other gpu", 1.0, device="lab:other")
    case = notebook.ledger.evaluation(attempt.evaluation_key).measurements[0].case
    assert foretold(notebook.ledger, notebook.run, [attempt]) == (Pair(attempt.id, case, 10.0, 8.0, "hbm"),)
    book = RunReader(notebook.ledger, notebook.artefacts, notebook.run.id, Extras()).book()
    assert book.agreement is not None
    assert (book.agreement.count, book.agreement.ratio) == (1, pytest.approx(1.25))


def test_a_predicted_kernel_is_no_pair(notebook: Any) -> None:
    notebook.start()
    attempt = notebook.attempt(0, 0, 20.0)
    predicted(notebook, "key", 8.0)
    assert foretold(notebook.ledger, notebook.run, [attempt]) == ()
    assert RunReader(notebook.ledger, notebook.artefacts, notebook.run.id, Extras()).book().agreement is None
