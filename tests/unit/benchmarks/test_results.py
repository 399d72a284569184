"""The table of results: figure lines are read, kept and shown whole, and no benchmark is left out."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from benchmarks.__main__ import chosen, main, parser, run
from benchmarks.figure import Figure, report
from benchmarks.highlights import END, HIGHLIGHTS, START, found, readme, rounded, table
from benchmarks.registry import ALONE, BENCHMARKS, Benchmark
from benchmarks.results import PAGE, ROOT, Record, figures_in, group, load, number, origin, page, save

STARTUP = Benchmark("startup", "Start-up", "The wait.", 0.5)
FOUND = (
    Figure("startup.help", 0.1234567, "s", "python -c pass", 0.0151, "< 0.5"),
    Figure("startup.check", 12345.6, "s", "no anchor", 0.0, stored="throughput_h200.json"),
)

TABLE = r"""|figure| value, s| nothing\|much| goal|
|---|--:|---|---|
|`a.0`| 0| 2| <1|
|`a.1`| 1| 2| **missed**: <1|
"""


def prints_figures(path: Path) -> bool:
    """True for a module that hands figures to `report`, wherever it imports it."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "benchmarks.figure"
        and "report" in {alias.name for alias in node.names}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )


def test_every_module_that_prints_figures_is_registered_and_no_other() -> None:
    modules = {path.stem for path in (ROOT / "benchmarks").glob("*.py") if prints_figures(path)}
    assert modules == {b.name for b in BENCHMARKS if not b.by_hand} | ALONE


def test_names_are_registered_once() -> None:
    assert len({b.name for b in BENCHMARKS}) == len(BENCHMARKS)


def test_the_page_is_what_the_stored_figures_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().out


def test_figure_lines_are_found_among_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    report("Start-up", FOUND)
    lines = figures_in('{not json\n{"other": 1}\n' + capsys.readouterr().out)
    assert [f["figure"] for f in lines] == ["startup.help", "startup.check"]
    assert (lines[0]["value"], lines[0]["met"], lines[1]["ratio"]) == (0.123457, True, None)


def test_records_come_back_as_they_were_saved(tmp_path: Path) -> None:
    lines = figures_in("\n".join(f.line() for f in FOUND))
    records = [
        Record("startup", '2 cores of a "Xeon"', "2026-11-22", lines),
        Record("demo", "2 cores", "2026-11-21", lines),
    ]
    save(records, tmp_path / "results.json")
    assert list(load(tmp_path / "results.json").values()) == records
    assert load(tmp_path / "absent.json") == {}


def test_a_figure_is_a_row_with_its_anchor_and_its_goal() -> None:
    lines = figures_in("\n".join(f.line() for f in FOUND))
    text = page([STARTUP], {"startup": Record("startup", "2 cores", "2026-11-22", lines)})
    assert "|figure| value, s| anchor| goal|" in text
    assert "|`startup.help`| 0.1235| python -c pass: 0.0151| <0.5|" in text
    assert "|`startup.check`| 12,350| no anchor: 0||" in text
    assert f"Command: `python -m benchmarks.startup`, on {origin('throughput_h200.json')}." in text


def test_the_usual_anchor_heads_its_column_and_a_missed_goal_says_so() -> None:
    figures = [Figure(f"a.{n}", n, "s", "nothing|much", 2.0, "< 1") for n in (0, 1)]
    text = group(STARTUP, Record("startup", "2 cores", "2026-11-22", figures_in("\n".join(f.line() for f in figures))))
    assert text.endswith("on 2 cores, 2026-11-22.\n\n" + TABLE)


def test_a_row_names_the_unit_and_the_anchor_that_differ_from_the_row_above() -> None:
    figures = [
        Figure("a.first", 1, "", "one", 2.0),
        Figure("a.second", 3, "s", "two", 4.0),
        Figure("a.hill_climb", 5, "", "hill climb", 6.0),
        Figure("a.third", 7, "s", "two", 8.0),
        Figure("a.fourth", 9, "", "one", 10.0),
    ]
    text = group(STARTUP, Record("startup", "2 cores", "2026-11-22", figures_in("\n".join(f.line() for f in figures))))
    assert text.splitlines()[6:] == [
        "|figure| value| anchor| goal|",
        "|---|--:|---|---|",
        "|`a.hill_climb`| 5| 6||",
        "|`a.first`| 1| one: 2||",
        "|`a.fourth`| 9| 10||",
        "|`a.second`| 3 s| two: 4||",
        "|`a.third`| 7| 8||",
    ]


def test_a_benchmark_without_figures_is_on_the_page() -> None:
    assert "Not measured yet." in page([STARTUP], {})


@pytest.mark.parametrize(
    ("value", "text"), [(0.0000638, "0.0000638"), (27.84449, "27.84"), (0.0, "0"), (10712.3, "10,710"), (200.0, "200")]
)
def test_numbers_have_four_digits_and_no_exponent(value: float, text: str) -> None:
    assert number(value) == text


def test_what_is_asked_for_is_run() -> None:
    def names(*words: str) -> set[str]:
        return {b.name for b in chosen(parser().parse_args(words))}

    assert names("--only", "startup", "faults") == {"startup", "faults"}
    with pytest.raises(SystemExit):  # entered by hand: there is nothing to run
        names("--only", "author_h200")
    assert names("--stored") == {b.name for b in BENCHMARKS if b.stored}
    assert "startup" in names("--fast") and "lab_speed" not in names("--fast")
    assert names() == {b.name for b in BENCHMARKS if not b.by_hand}


def test_a_benchmark_that_prints_no_figure_gives_the_reason() -> None:
    assert run(Benchmark("registry", "", "", 1), {}) == "ended with 0: "  # a module without a main
    assert "No module named" in str(run(Benchmark("no_such_module", "", "", 1), {}))
    assert (
        run(Benchmark("startup", "", "", 1, needs=("no-such-program",)), {}) == "no-such-program is not on this machine"
    )


def test_a_benchmark_of_stored_times_runs_and_is_a_record() -> None:
    record = run(next(b for b in BENCHMARKS if b.name == "measure_truth"), {"openevolve": "ignored"})
    assert isinstance(record, Record)
    assert {figure["stored"] for figure in record.figures} == {"measure_truth_h200.json"}


def test_a_need_that_is_absent_is_named() -> None:
    assert Benchmark("x", "X", "", 1, needs=("sh", "no-such-program")).missing() == ["no-such-program"]


def test_the_readme_shows_few_figures_in_its_own_words() -> None:
    startup = Record("startup", "2 cores", "2026-11-22", figures_in(FOUND[0].line()))
    records = {b.name: Record(b.name, "", "", ()) for b in BENCHMARKS} | load()
    assert len(HIGHLIGHTS) <= 8
    assert all(found(highlight.figure, BENCHMARKS, records)[0].command for highlight in HIGHLIGHTS)
    with pytest.raises(KeyError):
        found("startup.help", [STARTUP], {})
    assert found("startup.help", [STARTUP], {"startup": startup})[1]["value"] == 0.123457
    text = f"before {START}old{END} after"
    assert readme(text, BENCHMARKS, records) == f"before {START}{table(BENCHMARKS, records)}{END} after"


@pytest.mark.parametrize(
    ("value", "text"), [(28.4412, "28.4"), (139.0, "139"), (6140.03, "6,140"), (0.493827, "0.494")]
)
def test_the_readme_rounds_to_three_digits(value: float, text: str) -> None:
    assert rounded(value) == text


def test_every_benchmark_on_the_page_names_its_command() -> None:
    groups = re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert len(groups) == len(BENCHMARKS)
    assert all(re.search(r"^Command: `[^`]+`", group, re.MULTILINE) for group in groups)
