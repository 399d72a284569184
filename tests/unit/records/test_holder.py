"""A process by the line in a lock's file: found while it runs, never mistaken for a later one of its number."""

from __future__ import annotations

import os
import subprocess
import sys

from records.holder import process_of, signature


def test_this_process_is_found_by_its_line_and_no_other_is() -> None:
    own = signature()
    assert process_of(own) == os.getpid()
    number, started, space = own.split(" ", 2)
    assert process_of(f"{number} {int(started) - 1} {space}") == 0, "an earlier process had this number"
    assert process_of(f"{number} {started} pid:[1]") == 0, "a process of another container has this number"
    assert [process_of(text) for text in ("", "nobody", number)] == [0, 0, 0]


def test_a_process_that_has_ended_is_not_found() -> None:
    program = "from records.holder import signature; print(signature())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.count(" ") == 2 and process_of(done.stdout) == 0
