"""`thence campaign status`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from thence.cli.campaigns import campaign_output
from thence.cli.options import CampaignDirectory, Json
from thence.cli.output import Output
from thence.cli.session import Session, run_command
from thence.conformance.campaign import status as read_status


def status(directory: CampaignDirectory, json: Json = False) -> None:
    """Reads the state of the campaign. Exit 0 however far that is, unless a case failed."""

    def body(_session: Session) -> Output:
        found = read_status(Path(directory))
        return replace(campaign_output(directory, found, 0.0), exit=1 if found.tally.failures else 0)

    run_command("campaign status", json, body)
