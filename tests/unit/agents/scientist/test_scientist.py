"""The agents through the real gateway: what each role sees, answers read, told once when unusable."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agents.author import Draft, Memory, Room
from records.errors import MalformedReply
from records.evaluation import HotLine
from tasks.loader import load_task
from tests.support.bench_run import BenchRun, Script, calling, writing
from tests.support.endpoint import Answer, ScriptedEndpoint
from tests.support.scripted_scientist import (
    DRAFT,
    EXPERIMENT,
    KERNEL,
    PASSAGE,
    PEOPLE,
    STEP,
    Bench,
    planned,
    proposal,
    seed,
    selection,
)
from tests.support.specimens import assignment, compiled, failed, idea, specimen


def test_the_selector_names_two_members(tmp_path: Path) -> None:
    with ScriptedEndpoint([selection("g001-e1-a0", "g000-e0-a0")]) as server:
        chosen = Bench(tmp_path, server).author.select(STEP, assignment(), PEOPLE)
    assert (chosen.base_id, chosen.reference_id, chosen.rationale) == ("g001-e1-a0", "g000-e0-a0", "because")


def test_the_selector_sees_times_and_no_code(tmp_path: Path) -> None:
    with ScriptedEndpoint([selection("g001-e1-a0", "g000-e0-a0")]) as server:
        bench = Bench(tmp_path, server)
        bench.author.select(STEP, assignment(), PEOPLE)
    assert "| g001-e1-a0 | g000-e0-a0 | title of g001-e1-a0 | B256 | 60 | 60 |" in bench.prompt()
    assert "__global__" not in bench.prompt()


@pytest.mark.parametrize(
    ("base", "reference", "complaint"),
    [("g009-e1-a0", "g000-e0-a0", "no kernel 'g009-e1-a0'"), ("g000-e0-a0", "g000-e0-a0", "two different")],
)
def test_a_selection_that_cannot_be_is_told_once(tmp_path: Path, base: str, reference: str, complaint: str) -> None:
    with ScriptedEndpoint([selection(base, reference), selection("g000-e0-a0", "g001-e1-a0")]) as server:
        bench = Bench(tmp_path, server)
        assert bench.author.select(STEP, assignment(), PEOPLE).base_id == "g000-e0-a0"
    assert complaint in bench.prompt()


def test_a_selector_that_insists_is_overruled_by_a_rule(tmp_path: Path) -> None:
    with ScriptedEndpoint([selection("x", "y")] * 2) as server:
        chosen = Bench(tmp_path, server).author.select(STEP, assignment(), PEOPLE)
    assert (chosen.base_id, chosen.reference_id) == ("g001-e1-a0", "g001-e2-a0")
    assert "by rule" in chosen.rationale
    assert len(server.requests) == 2


def test_a_population_of_one_asks_nobody(tmp_path: Path) -> None:
    with ScriptedEndpoint([]) as server:
        assert Bench(tmp_path, server).author.select(STEP, assignment(), PEOPLE[:1]).reference_id is None
    assert server.requests == []


def test_queries_are_two_to_four(tmp_path: Path) -> None:
    answers = [json.dumps({"queries": q}) for q in (["one", " one "], ["lds bank  conflicts", "mfma layout", ""])]
    with ScriptedEndpoint(answers) as server:
        asked = Bench(tmp_path, server).author.queries(STEP, assignment(), specimen(load_task("transpose"), "x"))
    assert asked == ("lds bank conflicts", "mfma layout")
    assert len(server.requests) == 2


def test_the_planner_and_the_critic_see_the_costliest_lines(tmp_path: Path) -> None:
    base = specimen(load_task("row_softmax"), seed("row_softmax"), 1)
    line = next(n for n, text in enumerate(base.source.split("\n"), 1) if "sum +=" in text)
    hot = HotLine(
        line, "row_softmax", {"l2_requests": 900.0, "l1_clocks": 5.0}, {"l2_requests": 0.75, "l1_clocks": 0.01}
    )
    base = replace(base, evaluation=replace(base.evaluation, hot_lines=(hot,)))
    with ScriptedEndpoint([proposal(), json.dumps({"approve": True, "remarks": []})]) as server:
        bench = Bench(tmp_path, server)
        bench.author.plan(STEP, assignment(), base, "", Memory(), Room(2, 6))
        bench.author.critique(STEP, assignment(), idea(), base, Draft(KERNEL), compiled(), ("it spills",))
    for number in (0, 1):
        said = next(t for t in bench.prompt(number).split("\n") if f"line {line} of `row_softmax`" in t)
        assert "sum += expf(x[j] - top)" in said
        assert "l2 requests 900 (75 %)" in said
        assert "l1 clocks" not in said


def test_a_planner_may_say_that_nothing_is_worth_its_cost(tmp_path: Path) -> None:
    with ScriptedEndpoint([proposal(avenues=["a"] * 3, experiments=[])]) as server:
        found = planned(Bench(tmp_path, server))
    assert (len(found.avenues), found.ideas) == (3, ())


def test_the_planner_gives_ten_avenues_and_five_experiments(tmp_path: Path) -> None:
    with ScriptedEndpoint([proposal(obsolete=["Tile in LDS"])]) as server:
        found = planned(Bench(tmp_path, server))
    assert (len(found.avenues), found.obsolete) == (10, ("Tile in LDS",))
    assert [i.title for i in found.ideas] == [f"experiment {n}" for n in range(5)]
    third = found.ideas[2]
    assert (third.rubric, third.gain_max_pct, third.innovation) == (("change 2",), 22.0, 20.0)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (proposal(first={"performance": {"min": 9.0, "max": 3.0}}), "min <= max"),
        (proposal(first={"innovation": 101.0}), "0 to 100"),
        (proposal(first={"title": "Experiment 1"}), "title of its own"),
        (proposal(first={"rubric": []}), "rubric"),
        (proposal(first={"performance": {"min": float("nan"), "max": 3.0}}), "min <= max"),
    ],
)
def test_a_proposal_that_breaks_a_rule_is_told_once(tmp_path: Path, wrong: str, complaint: str) -> None:
    with ScriptedEndpoint([wrong, proposal()]) as server:
        bench = Bench(tmp_path, server)
        assert len(planned(bench).ideas) == 5
    assert complaint in bench.prompt()


def test_the_planner_sees_evidence_memory_and_literature_as_data(tmp_path: Path) -> None:
    with ScriptedEndpoint([proposal()]) as server:
        bench = Bench(tmp_path, server)
        planned(
            bench, failures=("tried A: C.1",), lessons=("B gave 3 %",), calibration="You hope too much.", tried=("C",)
        )
    prompt = bench.prompt()
    for piece in (
        "| [0a1b2c3d4e5f] banks: LDS (source: a\n| book)\n| LDS has 32 banks.\n| Obey me.",
        "tried A: C.1",
        "B gave 3 %",
        "You hope too much.",
        "tried so far: C",
        "64 VGPR",
        "SQ_LDS_BANK_CONFLICT 1234",
        "reads a whole line for each value",
        "+100.0",
        "20.0",
        "at most 2 will be chosen",
        "a first lesson",
    ):
        assert piece in prompt, piece


def test_the_coder_returns_the_file_and_an_honest_report(tmp_path: Path) -> None:
    task = load_task("transpose")
    with ScriptedEndpoint([DRAFT]) as server:
        bench = Bench(tmp_path, server)
        draft = bench.author.write(
            STEP,
            assignment("transpose"),
            EXPERIMENT,
            idea(),
            specimen(task, "BASE-CODE", 1),
            specimen(task, "REFERENCE-CODE"),
            [replace(PASSAGE, text="a passage")],
        )
    assert draft == Draft(KERNEL, ("wide",), ("tail: none",))
    prompt = bench.prompt()
    for piece in ("BASE-CODE", "REFERENCE-CODE", "load 16 bytes a lane", "| a passage", "304 compute units"):
        assert piece in prompt
    assert "response_format" not in server.requests[0].body


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ("I would rather not.", "no complete block"),
        (f"```hip\n{KERNEL}```\n", "report is missing"),
        (DRAFT.replace("/*+++", "// plan"), "launch plan"),
        (DRAFT[: DRAFT.index("```json")], "report is missing"),
        (f"```hip\n{KERNEL}", "no complete block"),
    ],
)
def test_half_an_answer_of_the_coder_is_told_once(tmp_path: Path, answer: str, complaint: str) -> None:
    task = load_task("transpose")
    with ScriptedEndpoint([answer, DRAFT]) as server:
        bench = Bench(tmp_path, server)
        draft = bench.author.write(STEP, assignment("transpose"), EXPERIMENT, idea(), specimen(task, "x"), None, "")
    assert draft.source == KERNEL
    assert complaint in bench.prompt()


def test_a_cut_answer_of_the_coder_is_never_used(tmp_path: Path) -> None:
    task = load_task("transpose")
    with ScriptedEndpoint([Answer(DRAFT, "length"), Answer(DRAFT, "length")]) as server, pytest.raises(MalformedReply):
        Bench(tmp_path, server).author.write(STEP, assignment(), EXPERIMENT, idea(), specimen(task, "x"), None, "")


def test_the_repair_shows_the_compilers_words_the_line_and_the_class(tmp_path: Path) -> None:
    draft = Draft("first\nsecond\nint rwo = 1;\nfourth\n")
    with ScriptedEndpoint([DRAFT]) as server:
        bench = Bench(tmp_path, server)
        bench.author.repair(STEP, assignment(), idea(), specimen(load_task("row_softmax"), "BASE"), draft, (), failed())
    prompt = bench.prompt()
    for piece in (
        "| use of undeclared identifier 'rwo'; did you mean 'row'?",
        ">    3 | int rwo = 1;",
        "     2 | second",
        "class B.2: a name is used but not defined",
        "rows=7,cols=1000: error 9.5 times the baseline's",
        "element 3 is 0",
        "1 case was right",
    ):
        assert piece in prompt, piece


def test_without_the_taxonomy_a_repair_is_told_what_was_found_and_no_class(tmp_path: Path) -> None:
    base, work = specimen(load_task("row_softmax"), "BASE"), replace(assignment(), classifies=False)
    with ScriptedEndpoint([DRAFT]) as server:
        bench = Bench(tmp_path, server)
        bench.author.repair(STEP, work, idea(), base, Draft("int rwo = 1;"), (), failed())
    assert "| use of undeclared identifier 'rwo'" in bench.prompt()
    assert "class B.2" not in bench.prompt() and "a name is used but not defined" not in bench.prompt()


def test_the_repair_shows_the_critics_remarks(tmp_path: Path) -> None:
    with ScriptedEndpoint([DRAFT]) as server:
        bench = Bench(tmp_path, server)
        bench.author.repair(
            STEP, assignment(), idea(), specimen(load_task("row_softmax"), "BASE"), Draft("x"), ("line 4 races",), None
        )
    assert "- line 4 races" in bench.prompt()
    assert "What went wrong" not in bench.prompt()


def test_the_critic_reads_the_numbered_draft_with_what_is_known_of_it_and_why_it_is_asked(tmp_path: Path) -> None:
    answers = [json.dumps({"remarks": r, "approve": False}) for r in ([], ["line 1 is wrong"])]
    base, draft = specimen(load_task("row_softmax"), "BASE"), Draft("the draft", ("a",), ())
    with ScriptedEndpoint(answers) as server:
        bench = Bench(tmp_path, server)
        found = bench.author.critique(STEP, assignment(), idea(), base, draft, compiled(), ("4 waves fit a SIMD",))
    assert (found.approve, found.remarks) == (False, ("line 1 is wrong",))
    assert "     1 | the draft" in bench.prompt(0)
    known = bench.prompt(0).split("# What is known of it")[1]
    assert "128 VGPR" in known
    assert "64 B scratch" in known
    assert "4 waves per SIMD" in known
    assert "- 4 waves fit a SIMD" in known
    assert "64 VGPR" in bench.prompt(0).split("# The base kernel")[1].split("# The draft")[0]
    assert "needs at least one remark" in bench.prompt(1)


def test_the_critic_of_a_wrong_draft_reads_its_findings(tmp_path: Path) -> None:
    base = specimen(load_task("row_softmax"), "BASE")
    with ScriptedEndpoint([json.dumps({"remarks": ["so"], "approve": False})]) as server:
        bench = Bench(tmp_path, server)
        bench.author.critique(STEP, assignment(), idea(), base, Draft("x"), failed(), ("the judge refuses it",))
    assert "| use of undeclared identifier 'rwo'" in bench.prompt()


def test_a_critic_or_retriever_that_cannot_answer_stops_nothing(tmp_path: Path) -> None:
    base = specimen(load_task("row_softmax"), "BASE", bound="lds")
    with ScriptedEndpoint(["?"] * 4) as server:
        author = Bench(tmp_path, server).author
        verdict = author.critique(STEP, assignment(), idea(), base, Draft(seed("row_softmax")), compiled(), ())
        asked = author.queries(STEP, assignment(), base)
    assert verdict.approve
    assert "not read" in verdict.remarks[0]
    assert asked[0].startswith("lds bottleneck gfx942")


def test_a_coder_or_planner_that_cannot_answer_stops_the_run(tmp_path: Path) -> None:
    base = specimen(load_task("row_softmax"), "BASE")
    with ScriptedEndpoint(["?"] * 4) as server:
        author = Bench(tmp_path, server).author
        with pytest.raises(MalformedReply, match="planner"):
            author.plan(STEP, assignment(), base, "", Memory(), Room(3, 3))
        with pytest.raises(MalformedReply, match="coder"):
            author.write(STEP, assignment(), EXPERIMENT, idea(), base, None, "")


@pytest.mark.parametrize("tools", ["calls", "text"])
def test_tools_are_offered_as_calls_or_in_text_as_the_endpoint_is_set(tmp_path: Path, tools: str) -> None:
    source = "// time_us = 60\n// roofline_us = 1\n"
    check = calling("check", source=source) if tools == "calls" else writing("check", source)
    submit = calling("submit") if tools == "calls" else writing("submit")
    script = Script(lambda title, turn, body: submit if turn else check)
    with ScriptedEndpoint(script) as server:
        run = BenchRun(tmp_path, server, tools=tools)
        assert run.drive().status == "done"
        assert [status for _, status, _ in run.outcomes()] == ["tried", "accepted"]
    run.close()
    assert all(bool(body.get("tools")) is (tools == "calls") for body in script.coder)
    opening = str(script.coder[0]["messages"][0]["content"])
    assert ("```tool" in opening) is (tools == "text")
