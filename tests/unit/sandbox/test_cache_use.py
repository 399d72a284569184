"""A cache is used by many or emptied by one, never both."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sandbox.cache_use import alone, use

HOLD = (
    "import sys; from pathlib import Path; from sandbox.cache_use import use; use(Path(sys.argv[1])); print(1); input()"
)


def holding(cache: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(cache)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "1\n"
    return process


def test_nobody_is_alone_with_a_cache_that_another_process_uses(tmp_path: Path) -> None:
    with alone(tmp_path / "cache") as first, alone(tmp_path / "cache") as second:
        assert (first, second) == (True, False)
    user = holding(tmp_path / "cache")
    with alone(tmp_path / "cache") as is_alone:
        assert not is_alone
    user.kill()
    user.communicate()
    with alone(tmp_path / "cache") as is_alone:
        assert is_alone, "the lock of a process that was killed is free"


def test_this_process_uses_a_cache_for_as_long_as_it_runs(tmp_path: Path) -> None:
    use(tmp_path / "cache")
    use(tmp_path / "cache" / ".." / "cache")
    with alone(tmp_path / "cache") as is_alone:
        assert not is_alone
    (tmp_path / "file").write_text("")
    use(tmp_path / "file" / "cache")  # which its next user says in a sentence
    with alone(tmp_path / "file" / "cache") as is_alone:
        assert not is_alone
