"""Several systems in one campaign: `thence.conformance.campaign.several_systems:several_runner`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from thence.conformance.campaign.case import SeedOutcome
from thence.conformance.campaign.one_system import HarnessRunner, campaign_runner


def several_runner(params: Mapping[str, Any]) -> SeveralRunner:
    """The function that runs the case of a seed on one of several systems.

    Parameters: `systems`, a list of parameters of `campaign_runner`; `corpora`, the parameter `corpus` of those that
    have none, by protocol; the others are the same for all of them.

    Raises:
        ValueError: a parameter is unknown or has an impossible value, or a system comes twice.
        SubjectError: a system cannot be used.
    """
    systems = params.get("systems")
    if not isinstance(systems, list) or not systems or not all(isinstance(each, dict) for each in systems):
        raise ValueError("the parameter systems is a list of what to test, each with its system and protocol")
    corpora = params.get("corpora", {})
    if not isinstance(corpora, dict):
        raise ValueError("the parameter corpora has a corpus for each of some protocols")
    shared = {name: value for name, value in params.items() if name not in ("systems", "corpora")}
    names = [str(each.get("system")) for each in systems]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"{', '.join(repeated)} comes twice among the systems")
    grown = ({"corpus": corpora[each["protocol"]]} if each.get("protocol") in corpora else {} for each in systems)
    runners = [campaign_runner({**shared, **corpus, **each}) for each, corpus in zip(systems, grown, strict=True)]
    return SeveralRunner(names, runners)


class SeveralRunner:
    """The case function of several systems, which have the seeds in turn.

    Of n systems, the one at place i runs at the seed n * k + i the case that it has in a campaign of its own at the
    seed k.
    """

    def __init__(self, names: Sequence[str], runners: Sequence[HarnessRunner]) -> None:
        self._runners = runners
        self.facts: dict[str, Any] = {
            "systems": {name: runner.facts for name, runner in zip(names, runners, strict=True)}
        }

    def cell(self, seed: int) -> tuple[str, str]:
        """The system and the scheduler of the seed."""
        turn, place = divmod(seed, len(self._runners))
        return self._runners[place].cell(turn)

    def __call__(self, seed: int) -> SeedOutcome:
        """Runs the case of the seed."""
        turn, place = divmod(seed, len(self._runners))
        return replace(self._runners[place](turn), seed=seed)
