"""Everything this project raises. A bad kernel is data (a `Verdict`); these are for the rest.

ScientistError
├── UsageError              the person asked for something that cannot be: exit code 2
│   ├── TaskError           a task folder is missing, malformed or too weak to judge anything
│   ├── PlanError           a launch plan is malformed (turned into a `parse` verdict at the sandbox's edge)
│   ├── DocumentError       a document cannot be read into the knowledge store
│   ├── SettingsError       a setting or a key is missing or contradicts another
│   └── NoRecords           there is no ledger yet where one is asked for
├── Pending                 an answer is not there yet: exit code 1
├── RunStopped              somebody stopped the work, which can go on later: exit code 130
└── MachineError            the machine, the account or a file is at fault: exit code 3
    ├── ToolchainError      no compiler, or one that does not work
    ├── LabError            the lab itself failed (never the candidate's fault)
    │   └── NoAnswer        a program of the lab ended without an answer; a control decides who is to blame
    ├── DiskFull            a file system has no room left
    ├── HostStarved         the machine is too busy to decide anything: tried again, never stored
    ├── DeviceError         the GPU or its driver failed (never the candidate's fault)
    ├── SpoolError          a spool folder or a served worker cannot be reached, used or believed
    ├── LedgerError         the ledger or the artefact store is damaged, locked or not writable
    │   └── DamagedRecord   a record or a text is not as it was written
    ├── KnowledgeError      the knowledge store is damaged, locked or not writable
    ├── LimitReached        a limit of the run does not allow what it would do next: it ends with its best kernel
    └── ModelError          the model's endpoint did not give a usable answer
        ├── ModelUnreachable    no answer for as long as it is waited for
        ├── ModelRefused        the endpoint refused the request (key, model name, payload): never retried
        ├── MalformedReply      no answer of the asked shape after the repair turn
        │   ├── TruncatedReply  the answer was cut off at the token limit, twice
        │   ├── ModelDeclined   a filter of the endpoint refuses this prompt or its answer
        │   └── Unanswered      a role that can be done without had no answer; the run remembers that it had none
        └── BudgetExhausted     the next call could take more dollars, tokens or calls than are left (a LimitReached)
"""

from __future__ import annotations

from typing import Literal

PlanFault = Literal["form", "content"]  # the file cannot be read as source and plan; what the plan says cannot be


class ScientistError(Exception):
    """The root; its text is one sentence that says what to do."""

    exit_code = 3


class UsageError(ScientistError):
    """The person asked for something that cannot be."""

    exit_code = 2


class TaskError(UsageError):
    """A task folder is missing, malformed or too weak to judge anything."""


class ReferenceTooLarge(TaskError):
    """A task's reference takes more memory for a case than it may have; a smaller case may do."""


class PlanError(UsageError):
    """A launch plan is malformed; the sandbox turns it into a `parse` verdict."""

    def __init__(self, message: str, line: int | None = None, fault: PlanFault = "content") -> None:
        super().__init__(message)
        self.line = line
        self.fault: PlanFault = fault


class DocumentError(UsageError):
    """A document cannot be read into the knowledge store."""


class SettingsError(UsageError):
    """A setting or a key is missing or contradicts another."""


class NoRecords(UsageError):
    """There is no ledger yet where one is asked for."""


class Pending(ScientistError):
    """An answer is not there yet; the same question asked later finds it. `awaited` names the requests by hash."""

    exit_code = 1

    def __init__(
        self, message: str, awaited: tuple[str, ...] = (), place: str = "", refused: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.awaited = awaited
        self.place = place  # where the answers will be
        self.refused = refused  # answers that were put aside, a sentence each


class RunStopped(ScientistError):
    """Somebody stopped the work: nothing further is begun, and a resumed run goes on from here."""

    exit_code = 130


class MachineError(ScientistError):
    """The machine, the account or a file is at fault."""


class ToolchainError(MachineError):
    """No compiler, or one that does not work."""


class LabError(MachineError):
    """The lab itself failed; the candidate is never blamed."""


class NoAnswer(LabError):
    """A program of the lab ended without an answer: by the candidate's doing, unless a right kernel fares no better."""


class DiskFull(MachineError):
    """A file system has no room left; the sentence names the folder and what is free."""


class HostStarved(MachineError):
    """The machine is so busy that a program did not get to run; no kernel is blamed, and the caller tries again."""


class DeviceError(MachineError):
    """The GPU or its driver failed; the candidate is never blamed."""


class SpoolError(MachineError):
    """A spool folder or a served worker cannot be reached, used or believed."""


class LedgerError(MachineError):
    """The ledger or the artefact store is damaged, locked or not writable."""


class DamagedRecord(LedgerError):
    """A record or a text is not as it was written."""


class KnowledgeError(MachineError):
    """The knowledge store is damaged, locked or not writable."""


class ModelError(MachineError):
    """The model's endpoint did not give a usable answer. `lost`: requests that were sent and may be billed."""

    def __init__(self, message: str, lost: int = 0, is_account: bool = False) -> None:
        super().__init__(message)
        self.lost = lost
        self.is_account = is_account  # key, credit or address: no other model of the endpoint would do


class ModelUnreachable(ModelError):
    """No answer for as long as it is waited for."""


class ModelRefused(ModelError):
    """The endpoint refused the request: a key, a model name or a payload. Never retried."""


class MalformedReply(ModelError):
    """No answer of the asked shape after the repair turn."""


class TruncatedReply(MalformedReply):
    """The answer was cut off at the token limit, also with the limit doubled; never used, however whole it looks."""


class ModelDeclined(MalformedReply):
    """A filter of the endpoint refuses this prompt or its answer; other prompts are not concerned."""


class Unanswered(MalformedReply):
    """A role that can be done without had no answer, and its rule decides, also when the run is resumed."""


class LimitReached(MachineError):
    """A limit of the run does not allow its next step; the run ends with its best kernel and can be given more."""

    def __init__(self, message: str, limit: str = "") -> None:
        super().__init__(message)
        self.limit = limit  # a field of records.allowance.Allowance


class BudgetExhausted(LimitReached, ModelError):
    """The next call to the model could take more dollars, tokens or calls than are left."""

    def __init__(self, message: str, limit: str = "budget_usd") -> None:
        LimitReached.__init__(self, message, limit)
        self.lost, self.is_account = 0, False
