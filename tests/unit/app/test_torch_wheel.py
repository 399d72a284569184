"""The pinned wheel: for which machines there is one, and what is said where there is none."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from app.torch_wheel import refuse_full_disk, torch_wheel
from records.errors import MachineError, UsageError


def test_every_pin_has_a_version_and_a_hash() -> None:
    wheel = torch_wheel("Linux x86_64", "cp311")
    assert wheel.index == "https://download.pytorch.org/whl/cpu" and wheel.version.endswith("+cpu")
    for line in (wheel.requirement, *wheel.needs):
        assert re.fullmatch(r"\w+==[\w.+]+ --hash=sha256:[0-9a-f]{64}", line)


@pytest.mark.parametrize(
    ("system", "tag", "word"), [("Darwin arm64", "cp311", "Linux on x86-64"), ("Linux x86_64", "cp399", "python3.11")]
)
def test_other_machines_are_refused_with_the_remedy(system: str, tag: str, word: str) -> None:
    with pytest.raises(UsageError, match=re.escape(word)):
        torch_wheel(system, tag)


def test_a_full_disk_is_named_before_anything_is_fetched(tmp_path: Path) -> None:
    wheel = torch_wheel("Linux x86_64", "cp311")
    refuse_full_disk(replace(wheel, installed_mb=0, download_mb=0), tmp_path)
    with pytest.raises(MachineError, match="free some space"):
        refuse_full_disk(replace(wheel, installed_mb=1 << 40), tmp_path)
