from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import one_way


@pytest.mark.slow
def test_a_candidate_is_read_once_and_resolved_once_on_a_short_way_to_the_compiler(tmp_path: Path) -> None:
    count = one_way.in_the_lab(tmp_path)
    assert count.parsed == 1
    assert max(count.resolved.values()) == 1 and len(count.resolved) > 9
    assert count.frames[0] == "evaluate" and count.frames[-1] == "Compiler.compile"
    assert len(count.frames) <= 4
