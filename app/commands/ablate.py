"""`ablate`: Measure what one part of the search gives, by campaigns with and without it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.commands.options import Json, TargetName, TaskName
from app.screen import emit, note, say

PARTS = "exploration, tuner, answers, attainable, causes, dispatch, picks, predictor, taxonomy"
WITHOUT = f"A part: {PARTS}, or beyond-paper, -fsr, -seki."


def command(
    task: TaskName,
    without: Annotated[str, typer.Option("--without", metavar="PART", help=WITHOUT)],
    target: TargetName = "mi300x",
    seeds: Annotated[int, typer.Option("--seeds", min=2, help="Pairs of campaigns, one a seed.")] = 5,
    generations: Annotated[int, typer.Option("--generations", min=1, help="Of each campaign.")] = 4,
    answers: Annotated[
        Path | None, typer.Option("--answers", metavar="FILE", help="Where the lab's answers are kept, to replay them.")
    ] = None,
    write: Annotated[
        Path | None, typer.Option("--write", metavar="FILE", help="Put the row into this page: docs/ablations.md.")
    ] = None,
    json: Json = False,
) -> None:
    """Compare campaigns of the playbook in the lab with and without a part; the differences have 95 % intervals."""
    from app.comparison import Campaigns, page_with, refuse_unknown, shared_answers
    from app.settings import load_settings
    from records.errors import UsageError
    from records.files import write_whole

    refuse_unknown(without)
    settings = load_settings()
    if write is not None and not write.is_file():
        raise UsageError(f"there is no page {write}; name an existing one, such as docs/ablations.md")
    answers_file = answers or settings.cache_folder / "answers" / f"{Path(task).name}-{target}.db"
    campaigns = Campaigns(settings, task, target, shared_answers(settings, target, answers_file))
    effect = campaigns.compare(without, seeds, generations, note)
    if json:
        emit(effect.plain)
    else:
        say(f"{effect.task} without {effect.part}, {effect.campaigns} pairs of campaigns, predicted times:")
        say(f"  slower by {effect.slower_pct.text} %")
        say(f"  {effect.more_timed.text} more kernels timed")
    if write is not None:
        words = f"kernel-scientist ablate {effect.task} --without {without} --seeds {seeds} --generations {generations}"
        write_whole(write, page_with(write.read_text(encoding="utf-8"), effect, words).encode(), is_public=True)
