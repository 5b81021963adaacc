"""Options of several commands that mean much the same under different names."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

KIN: Final = (
    ("--steps", "--depth", "--operations"),
    ("--timeout", "--time-limit", "--case-limit", "--budget", "--time"),
    ("-o", "--output", "--out", "--save", "--folder", "--write"),
    ("--sends", "--messages"),
    ("--loss", "--loss-rate"),
    ("--duplication", "--duplication-rate"),
    ("--jobs", "--threads", "--partitions"),
    ("--seed", "--first-seed"),
    ("--cases", "--campaign-cases", "--limit", "--repeat"),
    ("--memory", "--memory-limit"),
    ("--to", "--format"),
)
"""Each line names options of one kind. Who knows one of them from another command means, here, the first that is."""


def of_its_kind(option: str, there: Collection[str]) -> str | None:
    """The option of a command that means what `option` means elsewhere; None where it has none."""
    kin = (each for names in KIN if option in names for each in names)
    return next((each for each in kin if each in there), None)
