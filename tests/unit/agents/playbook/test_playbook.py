"""The author without a model: what it offers, never twice, the same again for the same arguments."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.author import Memory, Room, Step
from agents.playbook.playbook import Playbook
from agents.source import read
from agents.strategy import UNKNOWN, strategy
from records.experiment import Experiment
from sandbox.candidate.fit import check
from sandbox.candidate.parse import parse
from tasks.loader import load_task
from tests.support.specimens import assignment, compiled, failed, member, seeds, specimen

STEP = Step("run-1", 1)
ROOM = Room(3, 5)
SEEDS = [(name, path.read_text(encoding="utf-8")) for name, path in seeds()]
IDS = [f"{name}-{path.stem}" for name, path in seeds()]
EXPERIMENT = Experiment("g001-e1", "run-1", 1, 1, None, None, "t", "d")


@pytest.mark.parametrize(("name", "source"), SEEDS, ids=IDS)
def test_every_seed_gets_ideas_that_become_valid_files(name: str, source: str) -> None:
    author, work, base = Playbook(3), assignment(name), specimen(load_task(name), source)
    proposal = author.plan(STEP, work, base, "", Memory(), Room(3, 12))
    assert 1 <= len(proposal.ideas) <= 5
    assert len({i.title for i in proposal.ideas}) == len(proposal.ideas)
    for idea in proposal.ideas:
        assert idea.gain_min_pct <= idea.gain_max_pct
        draft = author.write(STEP, work, EXPERIMENT, idea, base, None, "")
        assert draft.source != base.source
        assert not draft.skipped
        check(parse(draft.source), work.task)
        assert author.critique(STEP, work, idea, base, draft, compiled(), ()).approve


@pytest.mark.parametrize(("name", "source"), SEEDS, ids=IDS)
def test_the_book_ends_and_never_repeats_itself(name: str, source: str) -> None:
    author, work, base = Playbook(3), assignment(name), specimen(load_task(name), source)
    tried: list[str] = []
    for generation in range(1, 30):
        ideas = author.plan(Step("run-1", generation), work, base, "", Memory(tried=tuple(tried)), Room(3, 3)).ideas
        if not ideas:
            break
        tried += [i.title for i in ideas]
    assert len(set(tried)) == len(tried)
    assert not author.plan(Step("run-1", 31), work, base, "", Memory(tried=tuple(tried)), Room(3, 3)).ideas


def test_what_failed_or_was_learnt_counts_as_tried() -> None:
    name, source = SEEDS[0]
    author, work, base = Playbook(3), assignment(name), specimen(load_task(name), source)
    first, second = author.plan(STEP, work, base, "", Memory(), Room(3, 2)).ideas
    memory = Memory(failures=(f"{first.title}: C.1: wrong",), lessons=(f"{second.title}: +3 %",))
    assert not {first.title, second.title} & {i.title for i in author.plan(STEP, work, base, "", memory, ROOM).ideas}


def test_another_order_of_tunables_is_the_same_kernel() -> None:
    source = next(s for (n, s), i in zip(SEEDS, IDS, strict=True) if i == "rms_norm-seed_tunable")
    tuned = source.replace("BLOCK = [64, 128, 256, 512, 1024]", "BLOCK = [512, 64, 128, 256, 1024]")
    assert tuned != source
    assert read(tuned).fingerprint == read(source).fingerprint


def test_the_same_arguments_give_the_same_answers_and_the_seed_matters() -> None:
    name, source = SEEDS[1]
    base, work = specimen(load_task(name), source), assignment(name)
    people = [member(f"g{i:03d}", 100.0 + i, f"B{i}") for i in range(6)]
    answers = {}
    for seed in (1, 1, 2, 3, 4, 5):
        author = Playbook(seed)
        answers[seed] = [author.select(Step("run-1", g), work, people).base_id for g in range(40)]
        assert answers[seed] == [Playbook(seed).select(Step("run-2", g), work, people).base_id for g in range(40)]
        assert author.plan(STEP, work, base, "", Memory(), ROOM) == Playbook(seed).plan(
            STEP, work, base, "", Memory(), ROOM
        )
    assert len({tuple(a) for a in answers.values()}) > 1
    assert all(a.count("g000") > 20 for a in answers.values())
    assert any(set(a) - {"g000"} for a in answers.values())


@pytest.mark.parametrize(("error", "said"), [(0.0, "the fastest of 4"), (0.025, "equal to 2 of them within the clock")])
def test_the_choice_says_how_many_kernels_are_equal_to_it(error: float, said: str) -> None:
    people = [replace(member(f"m{i}", t), time_error=error) for i, t in enumerate((100.0, 101.0, 102.0, 120.0))]
    reasons = [Playbook(1).select(Step("r", generation), assignment(), people).rationale for generation in range(8)]
    assert any(said in reason for reason in reasons)
    assert any("equal" in reason for reason in reasons) is bool(error)


@pytest.mark.slow
@given(times=st.lists(st.floats(1, 1e6), min_size=1, max_size=8), generation=st.integers(0, 50))
def test_base_and_reference_exist_and_differ(times: list[float], generation: int) -> None:
    people = [member(f"m{i}", t, f"B{i % 2}") for i, t in enumerate(times)]
    chosen = Playbook(1).select(Step("r", generation), assignment(), people)
    ids = {m.id for m in people}
    assert chosen.base_id in ids
    assert chosen.reference_id != chosen.base_id
    assert (chosen.reference_id is None) == (len(people) == 1)
    assert chosen.reference_id is None or chosen.reference_id in ids


def test_the_limit_is_kept() -> None:
    name, source = SEEDS[1]
    base, work = specimen(load_task(name), source), assignment(name)
    for limit in (0, 1, 2):
        assert len(Playbook(1).plan(STEP, work, base, "", Memory(), Room(3, limit)).ideas) == limit


def test_a_tunable_search_starts_elsewhere_but_offers_the_same_values() -> None:
    source = next(s for (n, s), i in zip(SEEDS, IDS, strict=True) if i == "rms_norm-seed_tunable")
    base, work, author = specimen(load_task("rms_norm"), source), assignment("rms_norm"), Playbook(1)
    idea = next(i for i in author.plan(STEP, work, base, "", Memory(), ROOM).ideas if i.move.startswith("search"))
    before, after = parse(source), parse(author.write(STEP, work, EXPERIMENT, idea, base, None, "").source)
    assert before.defaults() != after.defaults()
    assert {n: sorted(v) for n, v in before.plan.tunables.items()} == {
        n: sorted(v) for n, v in after.plan.tunables.items()
    }


def test_the_move_is_found_in_the_title_where_only_that_was_kept() -> None:
    name, source = SEEDS[0]
    author, work, base = Playbook(3), assignment(name), specimen(load_task(name), source)
    idea = author.plan(STEP, work, base, "", Memory(), ROOM).ideas[0]
    bare = dataclasses.replace(idea, move="")
    assert author.write(STEP, work, EXPERIMENT, bare, base, None, "") == author.write(
        STEP, work, EXPERIMENT, idea, base, None, ""
    )


def test_a_repair_takes_another_variant_and_then_gives_up() -> None:
    name, source = SEEDS[IDS.index("row_softmax-seed")]
    author, work, base = Playbook(3), assignment(name), specimen(load_task(name), source)
    idea = next(i for i in author.plan(STEP, work, base, "", Memory(), ROOM).ideas if i.move.startswith("unroll"))
    drafts = [author.write(STEP, work, EXPERIMENT, idea, base, None, "")]
    for number in (1, 2, 3):
        drafts.append(author.repair(Step("run-1", 1, "e", number), work, idea, base, drafts[-1], (), failed()))
    assert len({d.source for d in drafts}) == 4
    assert drafts[-1].source == base.source
    assert "undone" in drafts[-1].skipped[0]


def test_a_draft_that_breaks_a_rule_is_not_approved() -> None:
    name, source = SEEDS[0]
    author, work, base = Playbook(3), assignment(name), specimen(load_task(name), source)
    draft = dataclasses.replace(
        author.write(
            STEP, work, EXPERIMENT, author.plan(STEP, work, base, "", Memory(), ROOM).ideas[0], base, None, ""
        ),
        source=source + "}",
    )
    planned = author.plan(STEP, work, base, "", Memory(), ROOM).ideas[0]
    verdict = author.critique(STEP, work, planned, base, draft, compiled(), ())
    assert not verdict.approve
    assert verdict.remarks


def test_evidence_decides_what_comes_first() -> None:
    name, source = SEEDS[IDS.index("row_softmax-seed")]
    work, author = assignment(name), Playbook(1)
    first = {
        bound: author.plan(STEP, work, specimen(load_task(name), source, bound=bound), "", Memory(), ROOM).ideas[0].move
        for bound in ("valu", "latency")
    }
    assert first["latency"] == "wave_rows:row_softmax.64"
    assert first["valu"] == "fast_math:native"


@pytest.mark.parametrize(("name", "source"), SEEDS, ids=IDS)
def test_a_strategy_survives_renaming_and_comments(name: str, source: str) -> None:
    code = strategy(source)
    assert code != UNKNOWN
    assert code == strategy(source.replace("first", "zeroth").replace("sum", "acc") + "\n// atomicAdd float4 ^ mfma\n")


def test_strategies_differ_where_kernels_do() -> None:
    codes = {i: strategy(s) for i, (_, s) in zip(IDS, SEEDS, strict=True)}
    assert codes["fp8_block_gemm-seed"] != codes["fp8_block_gemm-seed_mfma.mi300x"]
    assert "M32x32" in codes["fp8_block_gemm-seed_mfma.mi300x"].replace("Mf32_", "M")
    assert codes["row_softmax-seed"].startswith("B64-L0-M0")
    assert strategy("no plan") == UNKNOWN
