"""Forms that the model fills in. No defaults, no constraints, no dicts: strict servers accept this subset only.

Field descriptions are part of the prompt. Bounds are checked when an answer is turned into the records of author.py.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, model_validator

from records.mechanism import MECHANISMS


class SelectionAnswer(BaseModel):
    """The selector's choice."""

    rationale: str = Field(description="two to four sentences: what the timings say and why these two")
    base_id: str = Field(description="id of the kernel to build on, copied from the table")
    reference_id: str = Field(description="id of another kernel to learn from; empty when there is only one")


class QueriesAnswer(BaseModel):
    """The retriever's questions to the literature."""

    queries: list[str] = Field(description="two to four search queries of three to ten technical words each")


class Performance(BaseModel):
    """A predicted range, in percent of the base's speed: 100 means twice as fast."""

    min: float = Field(description="lower end; negative where a loss is likely")
    max: float = Field(description="gain if everything works as hoped")


class ExperimentAnswer(BaseModel):
    """One experiment."""

    title: str = Field(description="at most ten words")
    mechanism: str = Field(description=f"why it is faster, one of: {', '.join(MECHANISMS)}")
    description: str = Field(description="the hypothesis: which resource binds now, what the change does to it")
    rubric: list[str] = Field(description="three to eight concrete code changes, one a line, each checkable by reading")
    performance: Performance
    innovation: float = Field(description="0 (routine) to 100 (nobody has tried this here)")
    cites: list[str] = Field(description="ids in brackets of the passages that it rests on; empty where there are none")

    @model_validator(mode="before")
    @classmethod
    def _rests_on_none(cls, data: Any) -> Any:
        """Let an answer that leaves these fields out rest on no passage, and name no mechanism."""
        return {"cites": [], "mechanism": "", **data} if isinstance(data, dict) else data


class ProposalAnswer(BaseModel):
    """Avenues, then experiments."""

    avenues: list[str] = Field(description="at most ten different avenues: a short title and one sentence each")
    experiments: list[ExperimentAnswer] = Field(
        description="at most five experiments, of different kinds; none where nothing is worth its cost"
    )
    obsolete: list[str] = Field(
        default_factory=list, description="titles of earlier proposals that the base contains by now"
    )


class ReportAnswer(BaseModel):
    """The writer's honest report, beside the code."""

    implemented: list[str] = Field(description="rubric items that the file really contains, in the rubric's words")
    skipped: list[str] = Field(description="rubric items left out or changed, each with the reason")


class CritiqueAnswer(BaseModel):
    """The critic's reading."""

    remarks: list[str] = Field(description="what has to change, most serious first; empty where nothing has to")
    approve: bool = Field(description="true when there is no such defect")
