from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from imports.models import trace_reading
from imports.models.costs import ReachedRates
from imports.models.trace_reading import read_trace
from imports.models.trace_scan import scan_trace
from imports.refusal import ImportRefused
from sandbox.target import load_target

GEMM, CHAIN = "Cijk_Ailk_Bljk_HHS_BH", "void at::native::vectorized_elementwise_kernel<4>"


def event(category: str, name: str, duration: float, start: float = 0, **arguments: Any) -> dict[str, Any]:
    return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": duration, "args": arguments}


def document() -> dict[str, Any]:
    dims = {"Input Dims": [[512, 1024], [1024, 256]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}
    return {
        "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X"}],
        "traceEvents": [
            event("cpu_op", "aten::mm", 3, **{"External id": 7}, **dims),
            event("kernel", GEMM, 30, 10, **{"External id": 7}),
            event("kernel", GEMM, 20, 40, **{"External id": 7}),
            event("kernel", CHAIN, 40, 60, **{"External id": 9}),
            event("gpu_memcpy", "Memcpy DtoD", 10, 100),
            event("user_annotation", "step", 1e6),
        ],
    }


def test_kernels_have_their_time_and_the_shapes_behind_them(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(json.dumps(document()).encode()))
    trace = read_trace(path)
    assert [(k.name, k.count, k.time_us) for k in trace.kernels] == [
        (GEMM, 2, 50),
        (CHAIN, 1, 40),
        ("Memcpy DtoD", 1, 10),
    ]
    assert trace.kernels[0].uses[0].shapes == ((512, 1024), (1024, 256))
    assert trace.device == "AMD Instinct MI300X"
    scan = scan_trace(trace, "a", "a.json.gz", ReachedRates(load_target("mi300x")))
    product = next(r for r in scan.regions if r.kind == "matrix product")
    assert (product.flops, product.share, product.is_task) == (2 * 2 * 512 * 1024 * 256, 0.5, False)
    assert product.gap > 1 and product.model_gain > 1
    assert {r.kind for r in scan.regions} == {"matrix product", "element-wise", "memory copy"}
    assert not trace.notes


def test_a_file_is_read_piece_by_piece(tmp_path: Path) -> None:
    events = [event("kernel", f"k{i % 3}", 1, i, note="x" * 400) for i in range(9000)]
    (tmp_path / "a.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    assert (tmp_path / "a.json").stat().st_size > 2 * trace_reading.CHUNK
    assert [(k.count, k.time_us) for k in read_trace(tmp_path / "a.json").kernels] == [(3000, 3000)] * 3


def test_tables_of_rocprof_hold_runs_or_totals(tmp_path: Path) -> None:
    runs = tmp_path / "1_kernel_trace.csv"
    runs.write_text(
        '"Kind","Kernel_Name","Start_Timestamp","End_Timestamp"\n"KERNEL_DISPATCH","f(float*, int)",1000,5000\n'
        '"KERNEL_DISPATCH","g",6000,7000\n"KERNEL_DISPATCH","f(float*, int)",8000,9000\n'
    )
    assert [(k.name, k.count, k.time_us) for k in read_trace(runs).kernels] == [("f(float*, int)", 2, 5), ("g", 1, 1)]
    totals = tmp_path / "1_kernel_stats.csv"
    totals.write_text('"Name","Calls","TotalDurationNs","AverageNs"\n"g",3,9000,3000\n')
    trace = read_trace(totals)
    assert [(k.count, k.time_us) for k in trace.kernels] == [(3, 9)]
    assert "no shapes" in trace.notes[0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"traceEvents": [{"ph": "X", "cat": "kernel",', "cut short"),
        ('{"a": 1}', "no traceEvents"),
        ('{"traceEvents": []}', "no kernels"),
        ("a,b\n1,2\n", "neither"),
        ("", "neither"),
        ('"Name","Calls","TotalDurationNs"\n', "no kernels"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ImportRefused, match=reason):
        read_trace(tmp_path / "a.json")


def test_damaged_packing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(json.dumps(document()).encode())[:60])
    with pytest.raises(ImportRefused, match="early"):
        read_trace(tmp_path / "a.json.gz")


def test_times_that_are_none_count_nothing(tmp_path: Path) -> None:
    events = [event("kernel", CHAIN, time) for time in (float("nan"), float("inf"), -3, 5)]
    (tmp_path / "a.json").write_text(json.dumps([*events, {"ph": "X", "cat": "kernel", "name": "k", "dur": "x"}]))
    assert [(k.name, k.time_us) for k in read_trace(tmp_path / "a.json").kernels] == [(CHAIN, 5), ("k", 0)]


def test_a_trace_without_shapes_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([event("kernel", CHAIN, 5)]))
    trace = read_trace(tmp_path / "a.json")
    assert any("record_shapes=True" in note for note in trace.notes)
    assert "no shapes" in scan_trace(trace, "a", "a.json", None).regions[0].reason
