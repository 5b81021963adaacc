"""Spark, for whatever is made of tasks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from thence.conformance.extras import require
from thence.conformance.java import ensure_java

if TYPE_CHECKING:
    from thence.conformance.campaign.scattered import Scattered


def require_spark(purpose: str) -> None:
    """Raises ExtraMissing or JavaMissing where Spark cannot run. `purpose` begins the message."""
    require("spark", purpose)
    ensure_java()


@contextmanager
def open_spark(master: str) -> Iterator[Scattered]:
    """The workers of the Spark at `master`, for the block.

    Raises:
        ExtraMissing, JavaMissing: Spark cannot run here.
        CampaignError: it does not start.
    """
    require_spark("the tasks are to be done on Spark")
    from thence.conformance.campaign.scattered import open_scattered

    with open_scattered(master) as scattered:
        yield scattered
