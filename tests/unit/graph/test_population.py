from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from agents.author import Idea, Specimen, Step
from graph.context import Context
from graph.doubles import ScriptedAuthor, TableSandbox, table_context, table_task
from graph.evaluating import evaluate
from graph.population import VerifiedKernel, accepted_of, attainable_fraction, best, roofline_fraction, specimen
from graph.trial import concerns
from records.errors import Pending
from records.evaluation import Comparison, Evaluation, Measurement, TimeKind, Verdict
from records.experiment import Attempt, Experiment
from records.ranking import by_level
from sandbox.candidate.prepare import Prepared


def timed(time_us: float, kind: TimeKind = "predicted", spread: float = 0.0, roofline_us: float = 0.0) -> Evaluation:
    row = Measurement("b", time_us, kind, "d", time_us - spread, time_us + spread, roofline_us=roofline_us)
    return Evaluation("k", "c", {}, Verdict("time", True, "OK"), measurements=(row,))


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        (timed(9), timed(10), True),
        (timed(10), timed(10), False),
        (timed(9, spread=5), timed(10, spread=5), True),
        (timed(9, "measured", 0.2), timed(10, "measured", 0.2), True),
        (timed(10, "measured", 0.2), timed(9, "measured", 0.2), False),
        (timed(9, "measured", 0.3), timed(10, "measured", 0.3), None),
        (timed(9, "measured"), timed(9.4, "measured"), None),
        (timed(10, "measured", 0.3), timed(9, "measured", 0.3), None),
        (timed(1, "measured"), timed(10), False),
        (timed(1), timed(10, "measured"), False),
    ],
)
def test_levels_decide_in_times_of_one_kind_where_they_are_far_apart(
    new: Evaluation, old: Evaluation, expected: bool | None
) -> None:
    assert by_level(new, old) is expected


def test_a_roofline_fraction_is_the_mean_of_the_cases_and_nothing_where_one_is_unknown() -> None:
    rows = (*timed(10, roofline_us=4).measurements, *timed(10, roofline_us=9).measurements)
    both = replace(timed(10), measurements=rows)
    assert roofline_fraction(both) == pytest.approx(0.6)
    assert roofline_fraction(replace(both, measurements=(*both.measurements, *timed(10).measurements))) == 0.0
    assert roofline_fraction(replace(both, measurements=())) == 0.0


def test_the_attainable_share_counts_the_launch_and_is_nothing_where_a_bound_is_unknown() -> None:
    (row,) = timed(10, roofline_us=3).measurements
    rows = (replace(row, resources_us={"launch": 1.0}), replace(row, roofline_us=9, weight=3.0))
    both = replace(timed(10), measurements=rows)
    assert attainable_fraction(both) == pytest.approx((0.4 * 0.9**3) ** 0.25)
    for unknown in (replace(row, roofline_us=0.0), replace(row, time_us=0.0)):
        assert attainable_fraction(replace(both, measurements=(*rows, unknown))) == 0.0
    assert attainable_fraction(replace(both, measurements=())) == 0.0


def attempt(name: str, generation: int, status: str = "accepted", kind: str = "predicted", **more: object) -> Attempt:
    plain = Attempt(
        name,
        "table-run",
        name[:-3],
        generation,
        0,
        "c",
        "",
        status,
        "k",
        geomean_us=10.0,  # type: ignore[arg-type]
        time_kind=kind,
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def judged(context: Context, source: str) -> Evaluation:
    """The stored benchmark of a source."""
    made = evaluate(context, "benchmark", context.sandbox.prepare(source, context.assignment.task))
    return context.ledger.add_evaluation(context.run.id, made)


def nothing(generation: int) -> Sequence[Idea]:
    return []


def test_the_accepted_kernels_of_a_generation_are_those_timed_alike(tmp_path: Path) -> None:
    context = table_context(tmp_path, table_task(tmp_path, ""), ScriptedAuthor(nothing, lambda step, base: ""))
    context.ledger.add_run(context.run)
    context.ledger.add_evaluation(context.run.id, timed(10))
    for made in (
        attempt("g000-e0-a0", 0),
        attempt("g001-e1-a0", 1, "rejected"),
        attempt("g001-e2-a0", 1),
        attempt("g001-e3-a0", 1, kind="measured"),
        attempt("g002-e1-a0", 2),
    ):
        context.ledger.add_attempt(made)
    assert [k.attempt.id for k in accepted_of(context, 1)] == ["g001-e2-a0"]
    assert [k.attempt.id for k in accepted_of(context, 1, "measured")] == ["g001-e3-a0"]
    assert accepted_of(context, 3) == []


def test_of_equal_kernels_the_first_one_stays_best(tmp_path: Path) -> None:
    context = table_context(tmp_path, table_task(tmp_path, ""), ScriptedAuthor(nothing, lambda step, base: ""))
    kernels = [VerifiedKernel(attempt(f"g001-e{i}-a0", 1), timed(t)) for i, t in enumerate((12, 10, 10, 11))]
    assert best(context, kernels).attempt.id == "g001-e1-a0"


@pytest.mark.parametrize(("error", "wins"), [(0.0, 3), (0.1, 2), (0.5, 0)])
def test_a_tie_by_the_clock_s_error_replaces_no_leader(tmp_path: Path, error: float, wins: int) -> None:
    context = table_context(tmp_path, table_task(tmp_path, ""), ScriptedAuthor(nothing, lambda step, base: ""))
    kernels = [
        VerifiedKernel(attempt(f"g001-e{i}-a0", 1), replace(made, measurements=(replace(row, error=error),)))
        for i, made in enumerate((timed(12), timed(11.5), timed(10), timed(9.5)))
        for row in made.measurements
    ]
    assert best(context, kernels).attempt.id == f"g001-e{wins}-a0"


@pytest.mark.parametrize(("error", "count"), [(0.0, 1), (0.2, 1), (0.4, 0)])
def test_a_draft_within_the_clock_s_error_of_its_parent_is_no_concern(error: float, count: int) -> None:
    both = [replace(m, error=error) for us in (13, 10) for m in timed(us).measurements]
    made, parent = (replace(timed(1), measurements=(m,)) for m in both)
    assert len(concerns(made, parent)) == count


def measured(folder: Path, *sources: str) -> tuple[Context, list[VerifiedKernel]]:
    """A context that measures, and these kernels in its ledger."""
    plain = table_context(folder, table_task(folder, ""), ScriptedAuthor(nothing, lambda step, base: ""))
    context = replace(plain, sandbox=TableSandbox("gpu:table", "measured"))
    context.ledger.add_run(context.run)
    kernels = []
    for number, source in enumerate(sources):
        made = judged(context, source)
        kernels.append(
            VerifiedKernel(
                attempt(
                    f"g001-e{number}-a0",
                    1,
                    kind="measured",
                    evaluation_key=made.key,
                    source=context.artefacts.put(source),
                ),
                made,
            )
        )
    return context, kernels


def compared(context: Context) -> int:
    assert isinstance(context.sandbox, TableSandbox)
    return [purpose for purpose, _ in context.sandbox.calls].count("compare")


def test_measured_levels_that_are_close_are_settled_by_a_comparison_once(tmp_path: Path) -> None:
    """The second has the lower level and is slower in truth, the third the other way round."""
    context, kernels = measured(
        tmp_path,
        "// time_us = 10\n// true_us = 10\n",
        "// time_us = 9.8\n// true_us = 10.3\n",
        "// time_us = 10.2\n// true_us = 9.7\n",
    )
    assert [best(context, kernels).attempt.id for _ in range(3)] == ["g001-e2-a0"] * 3
    assert compared(context) == 2
    stored = context.ledger.comparisons(kernels[2].evaluation.key)
    assert [(c.incumbent, c.verdict) for c in stored] == [(kernels[0].evaluation.key, "faster")]


def test_measured_levels_that_are_far_apart_cost_no_comparison(tmp_path: Path) -> None:
    context, kernels = measured(tmp_path, "// time_us = 10\n", "// time_us = 9\n", "// time_us = 20\n")
    assert best(context, kernels).attempt.id == "g001-e1-a0"
    assert compared(context) == 0


def test_no_difference_leaves_the_incumbent_in_place(tmp_path: Path) -> None:
    context, kernels = measured(tmp_path, "// time_us = 10\n", "// time_us = 9.7\n// true_us = 9.98\n")
    assert best(context, kernels).attempt.id == "g001-e0-a0"


class Slow(TableSandbox):
    """Compares when it has been told to; until then every comparison is pending."""

    ready = False

    def compare(self, challenger: Prepared, incumbent: Prepared) -> Comparison:
        made = super().compare(challenger, incumbent)
        if not self.ready:
            raise Pending("waiting for 1 result in there", (made.key,), "there")
        return made


def test_all_comparisons_that_may_be_needed_are_asked_for_at_once(tmp_path: Path) -> None:
    context, kernels = measured(tmp_path, *(f"// time_us = {t}\n" for t in (10, 9.9, 9.8, 20)))
    slow = Slow("gpu:table", "measured")
    context = replace(context, sandbox=slow)
    with pytest.raises(Pending, match="waiting for 3 results in there") as caught:
        best(context, kernels)
    slow.calls.clear()
    slow.ready = True
    assert best(context, kernels).attempt.id == "g001-e2-a0"
    assert {key for _, key in slow.calls} <= set(caught.value.awaited), "a second round trip would be needed"


def test_a_kernel_that_beats_every_possible_leader_need_not_wait(tmp_path: Path) -> None:
    context, kernels = measured(tmp_path, *(f"// time_us = {t}\n" for t in (10, 9.9, 5)))
    assert best(replace(context, sandbox=Slow("gpu:table", "measured")), kernels).attempt.id == "g001-e2-a0"


def test_a_specimen_has_one_step_of_history(tmp_path: Path) -> None:
    def author(step: Step, base: Specimen) -> str:
        return ""

    context = table_context(tmp_path, table_task(tmp_path, ""), ScriptedAuthor(nothing, author))
    context.ledger.add_run(context.run)
    context.ledger.add_evaluation(context.run.id, timed(10))
    context.ledger.add_experiment(Experiment("g001-e1", context.run.id, 1, 1, "g000-e0-a0", None, "title", "text"))
    context.ledger.add_attempt(attempt("g000-e0-a0", 0))
    context.ledger.add_attempt(
        attempt("g001-e1-a0", 1, parent_id="g000-e0-a0", source=context.artefacts.put("int main() {}"))
    )
    found = specimen(context, "g001-e1-a0", 2)
    assert (found.source, found.experiment.title, found.parent_times_us) == ("int main() {}", "title", {"b": 10.0})
