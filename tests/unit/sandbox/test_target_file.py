"""A target file changes what it names, is refused in a sentence where it cannot be, and is read as it was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from records.agreement import Factor
from records.errors import SettingsError
from sandbox.target import load_target
from sandbox.target_file import overlaid, read_target_file, target_file_text

MI300X = load_target("mi300x")


def write(folder: Path, text: str) -> Path:
    path = folder / "own.toml"
    path.write_text(text)
    return path


def test_what_calibrate_writes_is_read_back(tmp_path: Path) -> None:
    rows: dict[str, str | int | float] = {"source": 'a "b"\\\n.tsv', "count": 3, "median_error_after": 0.125}
    text = target_file_text("mi300x", [Factor("lds port", 1.25, 2), Factor("hbm", 0.8, 1)], rows)
    target_file = read_target_file(write(tmp_path, text))
    assert (target_file.target, target_file.factors, target_file.tables) == (
        "mi300x",
        {"lds port": 1.25, "hbm": 0.8},
        {},
    )
    assert overlaid(MI300X, target_file) == MI300X


def test_figures_stand_in_place_of_the_target_s(tmp_path: Path) -> None:
    target_file = read_target_file(write(tmp_path, 'target = "mi300x"\n[memory]\nhbm_tb_s = 4.2\n'))
    target = overlaid(MI300X, target_file)
    assert target.memory["hbm_tb_s"] == 4.2
    assert {**target.memory, "hbm_tb_s": 0} == {**MI300X.memory, "hbm_tb_s": 0} and target.limits == MI300X.limits
    other = load_target("h200")
    assert overlaid(other, target_file) == other, "it is about one target"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[factors", "is no TOML"),
        ("[factors]\nhbm = 1.2\n", "does not say its target"),
        ('target = "mi300x"\n[factors]\nhbm = 0\n', r"factors.hbm = 0; it must be a number above 0"),
        ('target = "mi300x"\n[factors]\nhbm = "1"\n', "must be a number above 0"),
        ('target = "mi300x"\nfactors = 3\n', "no table of figures"),
        ('target = "mi300x"\n[memory]\nhbm = 4.2\n', "has no figure memory.hbm"),
        ('target = "mi300x"\n[clock_rates]\nhbm = 4.2\n', "has no table clock_rates"),
        ('target = "mi300x"\n[name]\nhbm = 4.2\n', "has no table name"),
    ],
)
def test_a_file_that_cannot_be_is_refused_in_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        overlaid(MI300X, read_target_file(write(tmp_path, text)))


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        read_target_file(tmp_path / "none.toml")
