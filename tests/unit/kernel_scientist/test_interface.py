"""The interface from Python on the lab, with the smallest task and limits."""

from __future__ import annotations

import asyncio
import inspect
import tomllib
from html import escape
from pathlib import Path
from typing import Any

import pytest

import kernel_scientist
from kernel_scientist import (
    AttemptMade,
    Citation,
    Finished,
    KnowledgeStore,
    Question,
    RunEvent,
    ScientistError,
    Settings,
    astream,
    build_graph,
    check,
    get_source,
    open_context,
    resume,
    run,
)
from kernel_scientist.interface import RunOptions
from tests.support.short_task import short_task

ROOT = Path(__file__).resolve().parents[3]
SMALL: RunOptions = {"author": "playbook", "on": "lab", "generations": 1, "picks": 1, "tunings": 1}


def settings(folder: Path, cache: Path) -> Settings:
    return Settings(runs_folder=folder / "runs", cache_folder=cache)


def test_what_is_exported_exists_and_is_documented() -> None:
    for name in kernel_scientist.__all__:
        found = getattr(kernel_scientist, name)
        assert found is not None and (inspect.getdoc(found) or name == "RunEvent"), name
    with pytest.raises(AttributeError, match="no attribute 'runn'"):
        _ = kernel_scientist.runn


def test_type_checkers_of_others_are_told_that_all_packages_have_types() -> None:
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    assert "kernel_scientist" in packages
    assert [name for name in packages if not (ROOT / name / "py.typed").is_file()] == []


@pytest.mark.long
def test_a_run_that_is_left_early_is_paused_and_can_be_resumed_to_its_end(tmp_path: Path, compiler_cache: Path) -> None:
    given = settings(tmp_path, compiler_cache)

    async def first() -> RunEvent:
        stream = astream("transpose", settings=given, **SMALL)
        try:
            async for event in stream:
                if isinstance(event, AttemptMade):
                    return event
        finally:
            await stream.aclose()  # type: ignore[attr-defined]
        raise AssertionError("no attempt")

    made = asyncio.run(first())
    assert isinstance(made, AttemptMade) and made.status == "accepted"
    asked: list[Question] = []
    seen: list[RunEvent] = []
    result = resume("last", settings=given, progress=seen.append, ask=asked.append)
    assert result.status == "done" and result.best is not None
    assert seen and asked == []  # a run that was not begun with `ask` asks nothing
    assert result.source == Path(result.best.path).read_text() and result.report.exists()
    assert str(result).startswith(result.headline.text) and escape(result.headline.text) in result._repr_html_()
    with pytest.raises(ScientistError, match="give 2 or more"):
        resume("last", settings=given, generations=1)


@pytest.mark.slow
def test_a_function_may_approve_and_the_last_event_has_the_result(tmp_path: Path, compiler_cache: Path) -> None:
    asked: list[Question] = []
    short = short_task("transpose", tmp_path / "short", rows=256, cols=256)

    def refuse(question: Question) -> bool:
        asked.append(question)
        return False

    async def events() -> list[RunEvent]:
        given = settings(tmp_path, compiler_cache)
        return [event async for event in astream(short, settings=given, ask=refuse, **SMALL)]

    last = asyncio.run(events())[-1]
    assert isinstance(last, Finished) and last.result.status == "done" and last.result.accepted >= 1
    assert [question.kind for question in asked] == ["experiments"]
    result, given = last.result, settings(tmp_path, compiler_cache)
    assert result.best is not None and get_source(result.run_id, result.best.id, settings=given) == result.source
    assert get_source(result.run_id, settings=given) == result.source
    with pytest.raises(ScientistError, match="has no attempt 'g009-e1-a0'"):
        get_source(result.run_id, "g009-e1-a0", settings=given)


def test_a_bad_kernel_is_an_evaluation_with_findings(compiler_cache: Path, tmp_path: Path) -> None:
    made = check("no kernel", "row_softmax", settings=settings(tmp_path, compiler_cache))
    assert not made.verdict.accepted and made.verdict.code == "A.2" and made.verdict.findings


def test_a_check_takes_paths_and_single_shapes_and_tells_what_else_it_cannot(
    compiler_cache: Path, tmp_path: Path
) -> None:
    given = settings(tmp_path, compiler_cache)
    made = check("no kernel", ROOT / "tasks" / "row_softmax", shapes="rows=3,cols=5", settings=given)
    assert made.verdict.code == "A.2"
    wrong: Any = Path("kernel.hip")
    with pytest.raises(ScientistError, match=r"source of a check is of type str, not \w*Path$"):
        check(wrong, "row_softmax", settings=given)
    options: Any
    for options, why in (
        ({"shapes": [5]}, "shapes holds texts or paths, not one of type int"),
        ({"seed": -1}, "--seed is a whole number from 0 to 9223372036854775807, not -1"),
        ({"whole": "no"}, "whole of a check is of type bool, not str"),
        ({"settings": {}}, "settings of a check is of type Settings, not dict"),
        ({"task": 5}, "task of a check is of type str or Path, not int"),
        ({"tunables": [3]}, "tunables of a check is of type dict or Mapping, not list"),
    ):
        with pytest.raises(ScientistError, match=why):
            check(**{"source": "no kernel", "task": "row_softmax", "settings": given, **options})
    none: Any = {"on": None, "target": None, "tunables": None, "shapes": None}  # as what was left out
    assert check("no kernel", "row_softmax", settings=given, **none).verdict.code == "A.2"


def test_what_a_resumption_cannot_take_is_told(tmp_path: Path) -> None:
    options: Any
    for options, why in (
        ({"run_id": 5}, "run_id of a resumption is of type str, not int"),
        ({"generations": "3"}, "generations of a resumption is of type int, not str"),
        ({"ask": "me"}, "ask of a resumption is of type Callable, not str"),
        ({"settings": {}}, "settings of a resumption is of type Settings, not dict"),
    ):
        with pytest.raises(ScientistError, match=why):
            resume(**{"run_id": "last", "settings": Settings(runs_folder=tmp_path), **options})


def test_a_setting_that_there_is_not_or_that_is_not_usable_is_told(tmp_path: Path) -> None:
    wrong: Any
    for wrong, why in (
        ({"runs_foldr": tmp_path}, "no setting 'runs_foldr'; did you mean runs_folder?"),
        ({"zzz": 1}, "no setting 'zzz'$"),
        (
            {"cache_mib": "many"},
            "the setting KERNEL_SCIENTIST_CACHE_MIB is not usable: Input should be a valid integer",
        ),
    ):
        with pytest.raises(ScientistError, match=why) as caught:
            Settings(**wrong)
        assert "\n" not in str(caught.value) and "many" not in str(caught.value)
    assert Settings(OPENAI_MODEL="small").model == "small"  # type: ignore[call-arg]


def test_a_question_to_none_is_a_run_that_asks_nothing(compiler_cache: Path, tmp_path: Path) -> None:
    given = settings(tmp_path, compiler_cache)
    none: Any = None
    with open_context("row_softmax", author="playbook", on="lab", ask=none, settings=given) as found:
        assert not found.approves


def test_documents_are_added_and_found_by_what_is_exported(tmp_path: Path) -> None:
    (tmp_path / "nötes.md").write_text("# Zwölf\n\nTwelve waves of a quagga are enough.\n")
    store = KnowledgeStore(str(tmp_path / "store"))
    [added] = store.add(str(tmp_path / "nötes.md"), Citation(licence="MIT"))
    [found] = store.as_retriever(k=1).invoke("quagga waves")
    assert found.metadata["document"] == added.id and found.metadata["licence"] == "MIT"


def test_a_context_opens_a_graph_of_ones_own(compiler_cache: Path, tmp_path: Path) -> None:
    with open_context("row_softmax", author="playbook", on="lab", settings=settings(tmp_path, compiler_cache)) as found:
        assert found.author.name == "playbook" and found.limits.generations == 4
    assert "approve" in build_graph().nodes


@pytest.mark.parametrize(
    ("task", "options", "why"),
    [
        ("no_such_task", {}, "there is no task 'no_such_task'"),
        ("row_softmax", {"author": "nobody"}, "--author is llm, playbook or command"),
        ("row_softmax", {"generations": 0}, "generations is a whole number from 1 to 1,000,000, not 0"),
        ("row_softmax", {"generation": 3}, "there is no field 'generation' in the options of a run; there are target"),
        ("row_softmax", {"generations": "3"}, "generations of the options of a run is of type int or float, not str"),
        ("row_softmax", {"picks": True}, "picks of the options of a run is of type int or float, not bool"),
        ("row_softmax", {"seed": -1}, "--seed is a whole number from 0"),
        ("row_softmax", {"seed": 2**63}, "--seed is a whole number from 0"),
        ("row_softmax", {"starts": [5]}, "starts holds texts or paths, not one of type int"),
        ("row_softmax", {"shapes": [5]}, "shapes holds texts or paths, not one of type int"),
        ("row_softmax", {"progress": "p"}, "progress of a run is of type Callable, not str"),
        (5, {}, "task of a run is of type str or Path, not int"),
        ("row_softmax", {"seed": "ü"}, "seed of the options of a run is of type int, not str"),
        ("row_softmax", {"limits": [("picks", 1)]}, "limits of the options of a run is of type dict or Mapping"),
        ("row_softmax", {"ask": "me"}, "ask of the options of a run is of type Callable, not str"),
        ("row_softmax", {"settings": {}}, "settings of the options of a run is of type Settings, not dict"),
        ("row_softmax", {"shapes": "ü=3"}, "--shape takes .* not 'ü=3'"),
        ("row_softmax", {"starts": "none.hip"}, r"none\.hip"),
        ("row_softmax", {"target": "mi999"}, "mi999"),
        ("row_softmax", {"budget_usd": -1.0}, "from 0 on"),
        ("row_softmax", {"starts": ["none.hip"]}, r"none\.hip"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(tmp_path: Path, task: str, options: Any, why: str) -> None:
    with pytest.raises(ScientistError, match=why) as caught:
        run(task, **{"author": "playbook", "on": "lab", "settings": Settings(runs_folder=tmp_path), **options})
    assert "\n" not in str(caught.value)
