"""A program as a process, where nothing hides the machine from it: its prompt, its end, its words without keys."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from app.program.program_fence import Fence
from app.program.started_program import ProgramProcess, end_left_over


def test_it_reads_its_prompt_and_its_ending_is_told(tmp_path: Path) -> None:
    words = (str(shutil.which("sh")), "-c", "cat > prompt; echo key-123 $GIVEN; exit 3")
    fence = Fence(tmp_path, (), (), is_fenced=False)
    process = ProgramProcess(words, {"PATH": "/usr/bin:/bin", "GIVEN": "a"}, fence, "# Task", 60.0)
    with process.telling(tmp_path / "log", lambda text: text.replace("key-123", "[key]")) as running:
        while not running.has_ended:
            time.sleep(0.01)
    assert (tmp_path / "prompt").read_text(encoding="utf-8") == "# Task"
    assert (tmp_path / "log").read_text(encoding="utf-8") == "[key] a\n"
    assert "exit code 3" in process.ending and process.ending.endswith("it said last: [key] a")
    end_left_over(process.mark)  # nobody is left
