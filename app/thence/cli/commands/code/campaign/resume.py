"""`thence campaign resume`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Optional

import typer

from thence.cli.campaigns import campaign_output, require_word, show_progress
from thence.cli.options import CampaignDirectory, Json, TrustFile, Verbose
from thence.cli.output import Output
from thence.cli.session import Session, run_command
from thence.conformance.campaign import resume as resume_campaign


def resume(
    directory: CampaignDirectory,
    master: Annotated[Optional[str], typer.Option(help="Another Spark master than before.")] = None,  # noqa: UP045
    partitions: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=0, help="Another number of Spark tasks in a batch than before."),
    ] = None,
    trust_file: TrustFile = False,
    verbose: Verbose = 0,
    json: Json = False,
) -> None:
    """Goes on where the campaign was stopped."""

    def body(session: Session) -> Output:
        started = time.perf_counter()
        require_word(directory, trust_file, master)
        status = resume_campaign(
            Path(directory), lambda made: show_progress(session, made), master=master, partitions=partitions
        )
        return campaign_output(directory, status, time.perf_counter() - started)

    run_command("campaign resume", json, body, verbose)
