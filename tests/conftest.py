"""What all tests have in common: no cached answers of solvers, importable planted faults, no process left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

os.environ["THENCE_CACHE"] = "off"
settings.register_profile("thence", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("thence")  # a busy machine is no fault

TESTS = str(Path(__file__).resolve().parent)
if TESTS not in sys.path:
    sys.path.append(TESTS)  # so that the planted faults are importable as faults.mf, as `thence conform` sees them

if TYPE_CHECKING:
    from browser import Browser

WATCHDOG = Path(__file__).with_name("watchdog.py")
MARK = "THENCE_TEST_RUN"
SHARE = 1
"""How many cases of a long test `make test-long` runs, where the test does not say; `make test-all` runs all."""


def pytest_configure(config: pytest.Config) -> None:
    """Starts the watchdog of the run. The workers of xdist belong to the run that started them."""
    if sys.platform != "linux" or MARK in os.environ:
        return
    mark = uuid.uuid4().hex
    watchdog = subprocess.Popen(
        [sys.executable, str(WATCHDOG), mark], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
    )
    os.environ[MARK] = mark
    config.add_cleanup(lambda: _end(watchdog))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Cases that `long(but=...)` names by their ids, or the first `but` cases, stay in the short tier. Tests of Spark
    share a worker.

    Of the others, a test runs SHARE of its cases or as many as `long(share=...)` says, evenly spread; with
    THENCE_TESTS=all, all of them.
    """
    families: dict[str, list[pytest.Item]] = {}
    met: Counter[str] = Counter()
    for item in items:
        callspec = getattr(item, "callspec", None)
        for marker in [each for each in item.own_markers if each.name == "long" and callspec is not None]:
            family, but = item.nodeid.partition("[")[0], marker.kwargs.get("but", ())
            met[family] += 1
            if met[family] <= but if isinstance(but, int) else callspec.id in map(str, but):
                item.own_markers.remove(marker)
        if item.get_closest_marker("long") is not None and os.environ.get("THENCE_TESTS") != "all":
            families.setdefault(item.nodeid.partition("[")[0], []).append(item)
        if item.get_closest_marker("spark") is not None:
            item.add_marker(pytest.mark.xdist_group("spark"))
    left_out = {item for family in families.values() for item in family} - {
        item for family in families.values() for item in _spread(family)
    }
    left_out |= _of_other_parts(items, os.environ.get("THENCE_PART", "1/1"))
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


def _spread(family: list[pytest.Item]) -> list[pytest.Item]:
    """As many cases of a test as its marker says, or SHARE, evenly spread."""
    marker = family[0].get_closest_marker("long")
    assert marker is not None
    count = min(marker.kwargs.get("share", SHARE), len(family))
    return [family[at * len(family) // count] for at in range(count)]


def _of_other_parts(items: list[pytest.Item], part: str) -> set[pytest.Item]:
    """The long tests that a part such as `1/2` leaves to the others.

    Tests of one file are in one part, since they share what is costly.
    """
    number, _, parts = part.partition("/")
    if not (number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts)):
        raise pytest.UsageError(f"THENCE_PART={part} is no part: the first of two is 1/2")
    long = [item for item in items if item.get_closest_marker("long") is not None]
    files = sorted({item.nodeid.partition("::")[0] for item in long})
    chosen = set(files[int(number) - 1 :: int(parts)])
    return {item for item in long if item.nodeid.partition("::")[0] not in chosen}


def _end(watchdog: subprocess.Popen[bytes]) -> None:
    del os.environ[MARK]
    assert watchdog.stdin is not None
    watchdog.stdin.close()
    watchdog.wait()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The one browser of a run; tests take `browser`."""
    from browser import started

    with started() as found:
        yield found


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """A browser for pages that work without a network; a complaint of the console fails the test."""
    from browser import watched

    with watched(chromium) as found:
        yield found


@pytest.fixture
def marked() -> Callable[[str], list[int]]:
    """The processes that have a mark as one of their arguments, zombies left out. On Linux."""

    def find(mark: str) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                try:
                    if mark.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
                except OSError:
                    continue
        return found

    return find
