"""The limits of a run, each with its default, its bounds and a word on it, which schemas and forms show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, get_type_hints

from typing_extensions import Doc

from records.literature import ReaderRole

LEAST: Mapping[str, float] = {"generations": 1, "picks": 1, "tunings": 1, "stagnation": 1}  # 0 for the other limits
_SWITCHES = ("literature_feedback", "greedy", "bandit", "beliefs", "answers", "ablations", "taxonomy", "predictor")
MOST: Mapping[str, float] = {"tries": 100, **dict.fromkeys(_SWITCHES, 1)}
HIGHEST = 1_000_000  # of the others


@dataclass(frozen=True)
class Limits:
    """Limits of a run: generations, repairs, tunings, conditions to stop."""

    generations: Annotated[int, Doc("rounds of experiments")] = 4
    picks: Annotated[int, Doc("experiments a generation")] = 3
    compile_repairs: Annotated[int, Doc("times that a draft which does not compile goes back to its writer")] = 2
    wrong_repairs: Annotated[int, Doc("times that a draft with wrong results goes back to its writer")] = 2
    tries: Annotated[
        int, Doc("kernels that an author with tools may check in one experiment; 0 has it write without tools")
    ] = 4
    tunings: Annotated[int, Doc("tunable choices estimated per verified kernel")] = 24
    stagnation: Annotated[int, Doc("generations without a gain")] = 3
    roofline_fraction: Annotated[
        float, Doc("stop when the best kernel's geomean is this close to the speed of light")
    ] = 0.95
    literature_feedback: Annotated[int, Doc("1: passages that helped in earlier runs rise, those that misled fall")] = 0
    literature_k: Annotated[int, Doc("passages looked at for each query")] = 4
    planner_tokens: Annotated[int, Doc("of passages in one prompt of the planner; 0: none")] = 4000
    writer_tokens: Annotated[int, Doc("of passages in a prompt of the writer; 0: none")] = 1500
    repairer_tokens: Annotated[int, Doc("after a refusal, also where a try at the bench is refused")] = 1200
    critic_tokens: Annotated[int, Doc("of passages in a prompt of the critic; 0: none")] = 600
    search_tokens: Annotated[int, Doc("in one answer of the tool `search_notes`")] = 1500
    explorations: Annotated[
        int, Doc("estimates for changes of a verified kernel and its tunables together; 0: none")
    ] = 24
    islands: Annotated[int, Doc("populations that take turns, generation by generation")] = 1
    migration: Annotated[int, Doc("each island's turn of this number builds on kernels of all of them; 0: never")] = 3
    greedy: Annotated[
        int, Doc("1: each generation builds on the fastest kernel, and the author is not asked which")
    ] = 0
    inspiration: Annotated[
        int, Doc("from this generation on base and reference are drawn from the fastest five; 0: never")
    ] = 0
    bandit: Annotated[
        int, Doc("1: which rules pick experiments follows from what they gained for their kernels; 0: each in turn")
    ] = 0
    beliefs: Annotated[int, Doc("0: kept ideas count with the gains that were predicted, whatever was found since")] = 1
    answers: Annotated[
        int, Doc("a generation without a gain is answered by a named change of the search; 0: by none")
    ] = 1
    attainable_fraction: Annotated[
        float, Doc("stop when so much of the speed is reached that roofline and launch leave")
    ] = 0.98
    ablations: Annotated[
        int, Doc("a clear gain at other tunables than the parent's is checked by an ablation; 0: it is believed")
    ] = 1
    clear_pct: Annotated[float, Doc("predicted gain or loss from which on a cause is asked for")] = 1.0
    dispatch: Annotated[
        bool, Doc("whether a run ends with a table of its kernels by shape, where that is clearly faster")
    ] = True
    predictor: Annotated[int, Doc("1: an exploration leaves out what a model of earlier estimates is sure to lose")] = 0
    taxonomy: Annotated[int, Doc("0: authors are told what was found in a refused kernel, and not its class")] = 1
    session_minutes: Annotated[float, Doc("minutes of one session of a program as author")] = 30.0
    session_turns: Annotated[int, Doc("calls of tools in it; 0: three for each try, and four")] = 0
    memory_tokens: Annotated[
        int, Doc("of a prompt, for findings of earlier runs; 0: the run is told of none and leaves none")
    ] = 600

    def tokens_of(self, role: ReaderRole) -> int:
        """Return the most tokens of passages in a prompt of this role."""
        return {
            "planner": self.planner_tokens,
            "writer": self.writer_tokens,
            "repairer": self.repairer_tokens,
            "critic": self.critic_tokens,
            "search": self.search_tokens,
        }[role]


def limits_schema() -> dict[str, Any]:
    """Return the limits as a JSON schema of an object, all of whose fields may be left out."""
    kinds = {int: "integer", float: "number", bool: "boolean"}
    described = get_type_hints(Limits, include_extras=True)
    properties = {}
    for limit in fields(Limits):
        kind, words = described[limit.name].__args__[0], described[limit.name].__metadata__[0]
        bounds = {} if kind is bool else {"minimum": LEAST.get(limit.name, 0), "maximum": MOST.get(limit.name, HIGHEST)}
        choices = {"enum": [0, 1]} if bounds.get("maximum") == 1 and kind is int else {}
        about = {"type": kinds[kind], "default": limit.default, "description": words.documentation}
        properties[limit.name] = {**about, **bounds, **choices}
    return {"type": "object", "properties": properties, "additionalProperties": False}
