"""The ledger: every run, experiment, attempt, evaluation, comparison, paid call and event, keyed by content.

Everything is written once. A method returns after its commit is on the disk, and `together` makes one commit of several
methods. Threads share one connection behind a lock; processes share the database: an SQLite file in WAL mode with
`synchronous=FULL`, not for network file systems, or what else meets `records.engine`.

Records never change, so those read last are kept in memory; what another process writes is found all the same. A single
record, those of one generation and what a run has spent are found by index: their cost does not grow with the run.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal, TypeVar

from records.claims import Claims
from records.codec import dumps
from records.concealment import told
from records.durability import must_wait
from records.evaluation import Comparison, Evaluation
from records.experiment import Attempt, Experiment, Run
from records.literature import PassageReading
from records.memories import Memories
from records.payments import Payments
from records.removal import Removal
from records.soundness import Soundness
from records.worked import Worked

Purpose = Literal["compile", "verify", "benchmark", "estimate", "confirm", "ahead"]  # ahead: a confirmation not yet due
Record = TypeVar("Record")
Planned = TypeVar("Planned", Experiment, Attempt)
_LOOKED_UP = {"experiments": ("generation",), "attempts": ("generation", "candidate_id", "evaluation_key", "status")}
_FINAL_FIRST: tuple[Purpose, ...] = ("benchmark", "verify", "compile")


class Ledger(Claims, Payments, Memories, Worked, Removal, Soundness):
    """The truth about all runs of one run folder. Every method raises LedgerError when the file is at fault."""

    # Experiments and attempts

    def add_experiment(self, experiment: Experiment) -> Experiment:
        """Write an experiment unless there is one of its id; return the stored one, which is the first."""
        return self._add("experiments", experiment)

    def experiment(self, run_id: str, experiment_id: str) -> Experiment | None:
        """Return one experiment of a run, or None."""
        return self._one("experiments", Experiment, run_id, experiment_id)

    def experiments(self, run_id: str, generation: int | None = None) -> tuple[Experiment, ...]:
        """List the experiments of a run, or of one generation of it, by generation and id."""
        return tuple(self._all("experiments", Experiment, run_id, generation))

    def add_attempt(self, attempt: Attempt) -> Attempt:
        """Append an attempt unless there is one of its id; return the stored one, which is the first."""
        return self._add("attempts", attempt)

    def attempt(self, run_id: str, attempt_id: str) -> Attempt | None:
        """Return one attempt of a run, or None."""
        attempt = self._one("attempts", Attempt, run_id, attempt_id)
        return None if attempt is None else self._as_confirmed(attempt)

    def attempts(self, run_id: str, generation: int | None = None) -> tuple[Attempt, ...]:
        """List the attempts of a run, or of one generation of it, by generation, experiment and number."""
        attempts = self._all("attempts", Attempt, run_id, generation)
        return tuple(sorted(map(self._as_confirmed, attempts), key=_order))

    def _as_confirmed(self, attempt: Attempt) -> Attempt:
        if attempt.status != "accepted":
            return attempt
        return as_confirmed(attempt, self._evaluation(attempt.evaluation_key, "confirm"))

    def attempts_like(self, run_id: str, evaluation: Evaluation, by_code: bool) -> tuple[Attempt, ...]:
        """List the run's attempts, duplicates left out, with the same source, or `by_code` with the same device code.

        They come in the order of `attempts`. Which of them had the same tunables and launches is for the caller to say.
        """
        ids = self._rows(
            "SELECT id FROM attempts WHERE run_id = ? AND candidate_id = ? AND status <> 'duplicate'",
            (run_id, evaluation.candidate_id),
        )
        if by_code and evaluation.code_object:
            ids += self._rows(
                "SELECT DISTINCT a.id FROM evaluations AS e CROSS JOIN attempts AS a "
                "WHERE e.code_object = ? AND a.evaluation_key = e.key AND a.run_id = ? AND a.status <> 'duplicate'",
                (evaluation.code_object, run_id),
            )
        attempts = (self.attempt(run_id, attempt_id) for attempt_id in {row[0] for row in ids})
        return tuple(sorted((a for a in attempts if a is not None), key=_order))

    def branch(self, run: Run, origin_id: str, upto: int, experiments: Set[str] = frozenset()) -> None:
        """Write a run down with another's records of the generations up to this one, and of some experiments after it.

        Evaluations and comparisons belong to no run. Calls to the model stay with the run that paid for them. A second
        call changes nothing.
        """
        with self.together():
            self.add_run(run)
            for generation in range(upto + 1):
                shared = self.proposals(origin_id, generation)
                if shared:
                    self.add_proposals(run.id, generation, [replace(p, run_id=run.id) for p in shared])
            for generation in range(upto + 1 + bool(experiments)):
                for experiment in self.experiments(origin_id, generation):
                    if generation <= upto or experiment.id in experiments:
                        self.add_experiment(replace(experiment, run_id=run.id))
                for attempt in self.attempts(origin_id, generation):
                    if generation <= upto or attempt.experiment_id in experiments:
                        self.add_attempt(replace(attempt, run_id=run.id))
            self.copy_events(origin_id, run.id, upto)

    # Evaluations

    def evaluation(self, key: str, purpose: Purpose | None = None) -> Evaluation | None:
        """Return the stored result for a key, or None; without a purpose what got furthest (never an estimate)."""
        purposes = (purpose,) if purpose else _FINAL_FIRST
        return next((evaluation for p in purposes if (evaluation := self._evaluation(key, p)) is not None), None)

    def estimates(self, candidate_id: str) -> tuple[Evaluation, ...]:
        """List every estimate of a source; for which task, target and tunables each is, its key says."""
        clause = "WHERE candidate_id = ? AND purpose = 'estimate' ORDER BY rowid"
        rows = self._sound("evaluations", "key", "body", clause, (candidate_id,))
        return tuple(self._decoded(Evaluation, row[0]) for row in rows)

    def add_evaluation(self, run_id: str, evaluation: Evaluation, purpose: Purpose = "benchmark") -> Evaluation:
        """Store a result unless there is one for its key and purpose; return the stored one, which is the first.

        The commit waits for the disk only where `must_wait` says so.
        """
        with self._writing(is_synced=must_wait(purpose), is_single=True) as db:
            key_columns = {"key": evaluation.key, "purpose": purpose, "run_id": run_id}
            paid = {"who": self.account, "at": datetime.now(UTC).isoformat(timespec="milliseconds")}
            looked_up = {"code_object": evaluation.code_object, "candidate_id": evaluation.candidate_id}
            body = dumps(evaluation)
            if self._insert(db, "evaluations", {**key_columns, "body": body, **paid}, looked_up):
                return self._remember(("evaluation", evaluation.key, purpose), self._decoded(Evaluation, body))
        stored = self._evaluation(evaluation.key, purpose)
        assert stored is not None
        return stored

    def _evaluation(self, key: str, purpose: Purpose) -> Evaluation | None:
        return self._read(
            ("evaluation", key, purpose),
            Evaluation,
            "evaluations",
            "key",
            "WHERE key = ? AND purpose = ?",
            (key, purpose),
        )

    # Comparisons

    def comparison(self, key: str) -> Comparison | None:
        """Return the stored comparison of a key, or None."""
        return self._read(("comparison", key), Comparison, "comparisons", "key", "WHERE key = ?", (key,))

    def comparisons(self, challenger: str) -> tuple[Comparison, ...]:
        """List every comparison in which the kernel of this evaluation key was the challenger, oldest first."""
        rows = self._sound("comparisons", "key", "body", "WHERE challenger = ? ORDER BY rowid", (challenger,))
        return tuple(self._decoded(Comparison, row[0]) for row in rows)

    def add_comparison(self, run_id: str, comparison: Comparison) -> Comparison:
        """Store a comparison unless there is one for its key; return the stored one, which is the first."""
        with self._writing() as db:
            row = {
                "key": comparison.key,
                "challenger": comparison.challenger,
                "run_id": run_id,
                "body": dumps(comparison),
            }
            self._insert(db, "comparisons", row)
        stored = self.comparison(comparison.key)
        assert stored is not None
        return stored

    # Passages that were read

    def add_reading(self, reading: PassageReading) -> None:
        """Store a reading unless there is one at its place."""
        with self._writing() as db:
            key_columns = {"run_id": reading.run_id, "place": reading.place, "experiment_id": reading.experiment_id}
            self._insert(db, "readings", {**key_columns, "body": dumps(reading)})

    def reading(self, run_id: str, place: str) -> PassageReading | None:
        """Return the reading at a place, or None."""
        rows = self._sound("readings", "place", "body", "WHERE run_id = ? AND place = ?", (run_id, place))
        return self._decoded(PassageReading, rows[0][0]) if rows else None

    def readings(self, run_id: str, experiment_id: str | None = None) -> tuple[PassageReading, ...]:
        """List the readings of a run, or of one of its experiments (of its planner for an empty id), oldest first."""
        clause, parameters = "WHERE run_id = ?", [run_id]
        if experiment_id is not None:
            clause, parameters = f"{clause} AND experiment_id = ?", [run_id, experiment_id]
        rows = self._sound("readings", "place", "body", f"{clause} ORDER BY rowid", parameters)
        return tuple(self._decoded(PassageReading, row[0]) for row in rows)

    # Artefacts, for the artefact store

    def artefact(self, digest: str) -> bytes | None:
        """Return the content stored under a digest, not checked against it; None where there is none."""
        row = self._row("SELECT content FROM artefacts WHERE digest = ?", (digest,))
        return None if row is None else bytes(row[0])

    def add_artefact(self, digest: str, content: bytes, is_synced: bool = True) -> None:
        """Store content under its digest; the same one again changes nothing, damaged one is replaced.

        `is_synced` as for `event`.
        """
        with self._writing(is_synced=is_synced, is_single=True) as db:
            db.execute(
                "INSERT INTO artefacts (digest, content) VALUES (?, ?) ON CONFLICT (digest) "
                "DO UPDATE SET content = excluded.content WHERE artefacts.content <> excluded.content",
                (digest, content),
            )

    # Records

    def _add(self, table: str, record: Planned) -> Planned:
        row = {"run_id": record.run_id, "id": record.id, "body": dumps(record)}
        looked_up = {name: getattr(record, name) for name in _LOOKED_UP[table]}
        with self._writing() as db:
            self._insert(db, table, row, looked_up)
            stored = self._one(table, type(record), record.run_id, record.id)
        assert stored is not None
        return stored

    def _one(self, table: str, kind: type[Record], run_id: str, record_id: str) -> Record | None:
        key = (run_id, record_id)
        return self._read((table, *key), kind, table, "id", "WHERE run_id = ? AND id = ?", key)

    def _all(self, table: str, kind: type[Record], run_id: str, generation: int | None) -> list[Record]:
        clause, parameters = "WHERE run_id = ?", list[str | int]([run_id])
        if generation is not None:
            clause, parameters = f"{clause} AND generation = ?", [*parameters, generation]
        with self._lock:
            rows = self._sound(table, "id", "id, body", f"{clause} ORDER BY generation, id", parameters)
            # Those not in memory are not kept either: a whole run would drive out what was read lately.
            recent = (self._recent.get((table, run_id, row[0])) for row in rows)
            return [record or self._decoded(kind, row[1]) for record, row in zip(recent, rows, strict=True)]

    def _read(
        self, name: tuple[str, ...], kind: type[Record], table: str, key: str, clause: str, parameters: tuple[str, ...]
    ) -> Record | None:
        """Read one record by its key, from memory where it was read lately."""
        record: Record | None = self._recalled(name)
        if record is not None:
            return record
        rows = self._sound(table, key, "body", clause, parameters)
        return self._remember(name, self._decoded(kind, rows[0][0])) if rows else None


def _order(attempt: Attempt) -> tuple[int, str, int]:
    return attempt.generation, attempt.experiment_id, attempt.number


def as_confirmed(attempt: Attempt, confirmation: Evaluation | None) -> Attempt:
    """Return the attempt as it stands: accepted, then failed in its confirmation, it is rejected and has no time."""
    if attempt.status != "accepted" or confirmation is None or confirmation.verdict.accepted:
        return attempt
    verdict = confirmation.verdict
    first = next(iter(verdict.findings), None)
    return replace(
        attempt,
        status="rejected",
        code=verdict.code,
        stage=verdict.stage,
        reason=told(confirmation, first.case, first.message) if first else "",
        geomean_us=None,
        time_kind=None,
        time_error=0.0,
    )
