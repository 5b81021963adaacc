"""Campaigns: a great many seeded cases on Spark, stopped and resumed without losing or repeating one.

A seed fixes a *case* of a system under test. A *runner* is a function that builds the case function from parameters; it
is named by import path, so that every worker process builds its own. Only this package imports Spark, and only when a
campaign runs: `status` and `report` read files. Its packages are the extra `spark`; without them, the import of this
one says how to install them.
"""

from thence.conformance.extras import require

require("spark", "campaigns run on Spark")

from thence.conformance.campaign.batches import Progress, resume, start  # noqa: E402
from thence.conformance.campaign.case import CaseFunction, SeedOutcome  # noqa: E402
from thence.conformance.campaign.page import write_report  # noqa: E402
from thence.conformance.campaign.parameters import CampaignError, CampaignParameters  # noqa: E402
from thence.conformance.campaign.reporting import FailingCase, Report, failing_cases, report  # noqa: E402
from thence.conformance.campaign.status import Status, result, status  # noqa: E402
from thence.conformance.cases.tally import Tally, failure_bound  # noqa: E402

__all__ = [
    "CampaignError",
    "CampaignParameters",
    "CaseFunction",
    "FailingCase",
    "Progress",
    "Report",
    "SeedOutcome",
    "Status",
    "Tally",
    "failing_cases",
    "failure_bound",
    "report",
    "result",
    "resume",
    "start",
    "status",
    "write_report",
]
