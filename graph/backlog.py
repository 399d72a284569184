"""Ideas that were proposed and not tried: kept with their predicted gains, offered again, gone when tried.

Whether an experiment made a proposed change is decided by mechanism and words (`graph/sameness.py`). An idea of which
its writer made no right kernel was not tried: it comes back once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from agents.author import Idea, Proposal
from graph.sameness import Sameness
from records.experiment import Experiment, Proposed

KEPT = 20  # of each kind: more would crowd a prompt, and the oldest are the least informed
WRITINGS = 2  # of one idea, where no right kernel came of the first
COVERED = 0.6  # share of an avenue's words that an experiment has where it tries that avenue
_WORD = re.compile(r"[a-z0-9]{3,}")


class Backlog:
    """The proposals of the generations so far that no experiment has taken up."""

    def __init__(self, sameness: Sameness) -> None:
        """Begin empty; `sameness` learns the words of what is proposed and tried."""
        self._ideas: dict[str, Proposed] = {}  # by plain title, oldest first
        self._avenues: dict[str, Proposed] = {}
        self._sameness = sameness
        self._unwritten: dict[str, int] = {}  # by plain title: experiments of which no right kernel came

    def add(
        self, proposals: Iterable[Proposed], experiments: Sequence[Experiment], unwritten: Collection[str] = ()
    ) -> None:
        """One generation: what was proposed joins, what was tried leaves, whenever it was proposed.

        `unwritten` are the experiments of which no right kernel came.
        """
        for proposed in proposals:
            if proposed.is_obsolete:
                self._ideas.pop(_plain(proposed.title), None)
                continue
            by_title = self._avenues if proposed.is_avenue else self._ideas
            by_title.pop(_plain(proposed.title), None)
            by_title[_plain(proposed.title)] = proposed
            self._sameness.learn(proposed)
        for experiment in experiments:
            idea = self._ideas.pop(_plain(experiment.title), None)
            if experiment.id in unwritten and not experiment.move and not experiment.explores:
                self._return(experiment, idea)
            elif not experiment.move and not experiment.explores:
                self._drop_tried(experiment)
        word_sets = [_words(" ".join((e.title, e.description, *e.rubric))) for e in experiments]
        for name in [
            name for name, avenue in self._avenues.items() if any(_covers(w, avenue.title) for w in word_sets)
        ]:
            del self._avenues[name]
        for by_title in (self._ideas, self._avenues):
            for name in list(by_title)[:-KEPT]:
                del by_title[name]

    def _drop_tried(self, experiment: Experiment) -> None:
        self._sameness.learn(experiment)
        for name, proposed in list(self._ideas.items()):
            if self._sameness.is_tried_by(experiment, proposed):
                del self._ideas[name]

    def _return(self, experiment: Experiment, idea: Proposed | None) -> None:
        """Take an idea back that was not tried, with what it promised on the kernel that it was to change."""
        title = _plain(experiment.title)
        self._unwritten[title] = self._unwritten.get(title, 0) + 1
        if self._unwritten[title] < WRITINGS and experiment.parent_id:
            self._ideas[title] = idea or Proposed(
                experiment.run_id,
                experiment.generation,
                experiment.parent_id,
                experiment.title,
                experiment.description,
                experiment.rubric,
                experiment.gain_min_pct,
                experiment.gain_max_pct,
                experiment.innovation,
                cites=experiment.cites,
                mechanism=experiment.mechanism,
            )

    @property
    def proposals(self) -> tuple[Proposed, ...]:
        """Experiments, then avenues, newest first."""
        return (*reversed(self._ideas.values()), *reversed(self._avenues.values()))


def proposed_of(run_id: str, generation: int, base_id: str, proposal: Proposal) -> list[Proposed]:
    """Turn a planner's answer into records.

    An idea with a handle of its author's belongs to its base: the author offers it again where it applies.
    """
    ideas = [idea for idea in proposal.ideas if not idea.move]
    return [
        *(Proposed(run_id, generation, base_id, title, is_obsolete=True) for title in proposal.obsolete),
        *(
            Proposed(
                run_id,
                generation,
                base_id,
                idea.title,
                idea.description,
                idea.rubric,
                idea.gain_min_pct,
                idea.gain_max_pct,
                idea.innovation,
                cites=idea.cites,
                mechanism=idea.mechanism,
            )
            for idea in ideas
        ),
        *(
            Proposed(run_id, generation, base_id, avenue, is_avenue=True)
            for avenue in (proposal.avenues if ideas else ())
        ),
    ]


def offered(proposals: Iterable[Proposed], proposal: Proposal) -> list[Idea]:
    """List the fresh ideas, and behind them the kept ones that none of them repeats and that are not obsolete."""
    fresh = proposal.ideas
    titles = {_plain(title) for title in (*(idea.title for idea in fresh), *proposal.obsolete)}
    earlier = (p for p in proposals if not p.is_avenue and _plain(p.title) not in titles)
    return [
        *fresh,
        *(
            Idea(
                p.title,
                f"{p.description} (Planned in generation {p.generation} on {p.base_id}.)",
                p.rubric,
                p.gain_min_pct,
                p.gain_max_pct,
                p.innovation,
                cites=p.cites,
                mechanism=p.mechanism,
                reference_id=p.reference_id,
            )
            for p in earlier
        ),
    ]


def _plain(title: str) -> str:
    return " ".join(title.lower().split())


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _covers(words: frozenset[str], avenue: str) -> bool:
    """Tell whether an experiment's words hold most of an avenue's short title."""
    title_words = _words(avenue.split(":")[0])
    return bool(title_words) and len(title_words & words) >= COVERED * len(title_words)
