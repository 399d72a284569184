"""A table of measured times is read row by row, and each bad row is one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from records.errors import UsageError
from sandbox.measured_kernels import kernels_in_ledger, kernels_in_table

HEAD = "kernel\ttask\tcase\tmeasured_us"


def table(folder: Path, *lines: str) -> Path:
    (folder / "k.hip").write_text("a kernel")
    path = folder / "rows.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_rows_of_one_kernel_and_choice_belong_together(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "task.toml").write_text("")
    kernels = kernels_in_table(
        table(
            tmp_path,
            "# measured on a quiet machine",
            f"{HEAD}\ttunables\tcache",
            "k.hip\tsum\tn=1\t2.5\t\t",
            "",
            "k.hip\tsum\tn=2\t3.5\t\tcold",
            "k.hip\tsum\tn=2\t3\t\twarm",
            "k.hip\town\tn=2\t9\tR=4, S=2\tcold",
        )
    )
    assert [(k.name, k.source, k.task, dict(k.tunables)) for k in kernels] == [
        ("k.hip", "a kernel", "sum", {}),
        ("k.hip", "a kernel", str(tmp_path / "own"), {"R": 4, "S": 2}),
    ]
    assert (kernels[0].cold_us, kernels[0].warm_us) == ({"n=1": 2.5, "n=2": 3.5}, {"n=2": 3.0})


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "must begin with the headings kernel, task, case, measured_us"),
        (["kernel,task,case,measured_us"], "with tabs between them"),
        ([f"{HEAD}\tcolour"], "must begin with the headings"),
        ([HEAD, "k.hip\tsum\tn=1"], "row 1 of .* has 3 fields, the headings are 4"),
        ([HEAD, "k.hip\tsum\tn=1\tfast"], "row 1 of .* has 'fast' for a time"),
        ([HEAD, "k.hip\tsum\tn=1\t0"], "above 0"),
        ([HEAD, "k.hip\tsum\tn=1\tnan"], "above 0"),
        ([HEAD, "k.hip\tsum\tn=1\t1", "k.hip\tsum\tn=1\t2"], "row 2 of .* measures n=1 again"),
        ([f"{HEAD}\tcache", "k.hip\tsum\tn=1\t1\ttepid"], "says 'tepid' of the cache"),
        ([f"{HEAD}\ttunables", "k.hip\tsum\tn=1\t1\tR"], "has the tunables 'R'"),
        ([HEAD, "none.hip\tsum\tn=1\t1"], "none.hip cannot be read"),
    ],
)
def test_a_table_that_cannot_be_is_refused_in_a_sentence(tmp_path: Path, lines: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        kernels_in_table(table(tmp_path, *lines))


def test_a_ledger_gives_the_measured_kernels_of_its_runs_for_the_gpu(notebook: Any) -> None:
    notebook.start()
    notebook.attempt(0, 0, 20.0, source="seed")
    attempt = notebook.attempt(1, 0, 8.0, "g000-e0-a0", kind="measured", source="faster")
    notebook.attempt(1, 1, None, "g000-e0-a0", source="wrong")
    (measured,) = kernels_in_ledger(notebook.ledger, notebook.artefacts, "mi300x")
    assert (measured.name, measured.source, measured.run_id) == (
        f"{notebook.run.id} {attempt.id}",
        "faster",
        notebook.run.id,
    )
    assert list(measured.cold_us.values()) == [4.0, 16.0] and measured.tunables == attempt.tunables
    assert list(kernels_in_ledger(notebook.ledger, notebook.artefacts, "h200")) == []
