"""The author behind which a language model stands: each question goes to the agent that answers it."""

from __future__ import annotations

from collections.abc import Sequence

from agents.author import Assignment, Critique, Draft, Idea, Member, Memory, Proposal, Selection, Specimen, Step
from agents.model.gateway import LanguageModel
from agents.scientist import coder, critic, planner, retriever, selector
from records.evaluation import Evaluation
from records.experiment import Experiment


class Scientist:
    """An Author by a LanguageModel."""

    name = "llm"

    def __init__(self, model: LanguageModel) -> None:
        """Nothing is asked yet."""
        self.model = model

    def select(self, step: Step, work: Assignment, population: Sequence[Member]) -> Selection:
        """Choose base and reference."""
        return selector.select(self.model, step, work, population)

    def queries(self, step: Step, work: Assignment, base: Specimen) -> tuple[str, ...]:
        """What to look up in the literature before planning."""
        return retriever.queries(self.model, step, work, base)

    def plan(
        self, step: Step, work: Assignment, base: Specimen, literature: str, memory: Memory, limit: int
    ) -> Proposal:
        """Ten avenues and five experiments on the base."""
        return planner.plan(self.model, step, work, base, literature, memory, limit)

    def write(
        self,
        step: Step,
        work: Assignment,
        experiment: Experiment,
        idea: Idea,
        base: Specimen,
        reference: Specimen | None,
        literature: str,
    ) -> Draft:
        """Write the whole kernel file for one experiment."""
        return coder.write(self.model, step, work, idea, base, reference, literature)

    def critique(self, step: Step, work: Assignment, idea: Idea, base: Specimen, draft: Draft) -> Critique:
        """Read the draft as a reviewer."""
        return critic.critique(self.model, step, work, idea, base, draft)

    def repair(
        self,
        step: Step,
        work: Assignment,
        idea: Idea,
        base: Specimen,
        draft: Draft,
        remarks: Sequence[str],
        evaluation: Evaluation | None,
    ) -> Draft:
        """Mend a draft."""
        return coder.repair(self.model, step, work, idea, base, draft, remarks, evaluation)
