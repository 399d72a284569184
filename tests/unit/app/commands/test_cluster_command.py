"""The command `cluster` without a cluster: one sentence and an exit code."""

from __future__ import annotations

import pytest

from app.cli import run_command


@pytest.mark.parametrize("address", ["nowhere", "a:b", "http://a:1"])
def test_a_bad_address_is_refused_before_anything_is_started(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["cluster", "--address", address]) == 2
    output = capsys.readouterr()
    assert output.out == "" and "ray:HOST:PORT" in output.err and output.err.count("\n") == 1
