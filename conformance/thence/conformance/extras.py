"""Parts of Thence that need packages beside those of the core: the extras `pip install 'thence[NAME]'` brings them."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final, Literal, TypeAlias

from thence.spec.user_error import UserError

Extra: TypeAlias = Literal["spark"]

PACKAGES: Final[dict[Extra, tuple[str, ...]]] = {"spark": ("pyspark", "pyarrow")}
"""The packages of each extra without which nothing of it works."""


class ExtraMissing(UserError, ImportError):
    """An extra is not installed; the message says how to install it."""


def missing(extra: Extra) -> tuple[str, ...]:
    """The packages of the extra that are not installed."""
    return tuple(package for package in PACKAGES[extra] if find_spec(package) is None)


def require(extra: Extra, purpose: str) -> None:
    """Raises ExtraMissing where the extra is not installed. `purpose` begins the message: `campaigns run on Spark`."""
    absent = missing(extra)
    if absent:
        which = f"{' and '.join(absent)} {'is' if len(absent) == 1 else 'are'} not installed"
        raise ExtraMissing(f"{purpose}, and {which}: pip install 'thence[{extra}]'")
