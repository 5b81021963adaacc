"""The pytest plugin: a test for each claim of a system, and recorded cases as tests.

    @pytest.mark.thence(system=MyProcess, protocol="mf")
    def test_my_process(claim):
        claim.check()

becomes one test for each claim; docs/reference/conformance.md explains it. Every JSON file in a folder `thence_cases`
is a test, too: the recorded case is run again, and nothing may be wrong with it. pytest loads this module wherever
Thence is installed, so that what it needs is imported only when it is used.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from thence.conformance.cases.network import Claim as CheckedClaim
    from thence.conformance.conform.claims import Judged, Plan

MARKER: Final = "thence"
FOLDER: Final = "thence_cases"
"""The folders whose JSON files are tests."""

TRUSTED: Final = "thence_trusted"
"""The setting of pytest that lists systems which recorded cases may name."""

_marked: Final[set[str]] = set()
"""The systems of the marks that were met: the tests themselves run them."""

# By keyword: of a class as its only argument, pytest.mark would make a marked class.
_HOW = "@pytest.mark.thence(system=MyProcess, protocol=NAME, ...)"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("thence", "conformance of causal message delivery")
    group.addoption("--thence-cases", type=int, metavar="N", help="cases of each run; by default what its mark says")
    group.addoption("--thence-seed", type=int, metavar="N", help="seed of each run; by default what its mark says")
    group.addoption(
        "--thence-save",
        action="store_true",
        help=f"save what refutes a claim in the folder {FOLDER} beside the test, where it is a test from then on",
    )
    group.addoption(
        "--thence-trust-cases",
        action="store_true",
        help=f"run the programs and import the classes that recorded cases in {FOLDER} name",
    )
    parser.addini(
        TRUSTED,
        type="linelist",
        default=[],
        help=f"systems that recorded cases in {FOLDER} may name, beside those of the marks",
    )


def pytest_configure(config: pytest.Config) -> None:
    _marked.clear()
    config.addinivalue_line(
        "markers",
        "thence(system, protocol=None, *, processes=3, cases=300, operations=12, seed=0, claims=None, "
        "strict=False, **settings): "
        "one test for each claim of a system under test; see docs/reference/conformance.md of Thence",
    )


class Broken(Exception):
    """A mark with a claim, an option or a system that does not exist."""


@dataclass(slots=True)
class Run:
    """A run that several tests share. It takes place when the first of them does."""

    plan: Plan
    _judged: Judged | str | None = field(default=None)
    checked: set[CheckedClaim] = field(default_factory=set)
    """The claims whose `check` has been called."""

    @property
    def judged(self) -> Judged | str:
        """The judgement; a sentence where there is none, since the system could not start or nothing was delivered."""
        from thence.spec.user_error import UserError

        if self._judged is None:
            try:
                self._judged = self.plan.run()
            except UserError as error:
                self._judged = f"no verdict: {error}"
        return self._judged


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of the system of the mark: the value of the fixture `claim`."""

    name: CheckedClaim
    run: Run
    folder: Path | None

    def check(self) -> None:
        """Fails the test, showing the shortest case that refutes the claim, if the run found one."""
        __tracebackhide__ = True
        self.run.checked.add(self.name)
        judged = self.run.judged
        if isinstance(judged, str):
            pytest.fail(judged, pytrace=False)
        refutation = judged.refutation(self.name)
        if refutation is None:
            if unknown := judged.report.unknown(self.name):
                pytest.fail(f"no verdict: {unknown}", pytrace=False)
            return
        from thence.conformance.conform.claims import can_be_imported

        if self.folder is None:
            last = f"pytest --thence-save keeps it, as a test, in the folder {FOLDER} beside this one."
        elif not can_be_imported(refutation.recorded.system):
            last = f"Not kept in {self.folder}: nothing can be imported by the name {refutation.recorded.system}."
        else:
            last = f"Kept in {_save(self.folder, self.name, refutation.recorded.system, refutation.recorded.text())}."
        pytest.fail(f"{refutation.text}\n\n{last}", pytrace=False)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker(MARKER)
    if marker is None:
        return
    if "claim" not in metafunc.fixturenames:
        raise metafunc.definition.getparent(pytest.Module).CollectError(  # type: ignore[union-attr]
            f"{metafunc.definition.name} is marked with thence, and does not take the fixture claim"
        )
    try:
        if sum(mark.name == MARKER for mark in metafunc.definition.own_markers) > 1:
            raise Broken("the test is marked twice, and has claims of one system; write a test for each")
        run, claims = _run_of(marker, metafunc.config)
    except Broken as error:
        message = f"{metafunc.definition.name}: {_HOW}: {error}"
        raise metafunc.definition.getparent(pytest.Module).CollectError(message) from error  # type: ignore[union-attr]
    folder = metafunc.definition.path.parent / FOLDER if metafunc.config.getoption("thence_save") else None
    marks = []
    if metafunc.config.pluginmanager.hasplugin("xdist"):
        # With --dist loadgroup the tests of a run go to one worker, which then runs it once.
        marks.append(pytest.mark.xdist_group(f"thence-{metafunc.definition.nodeid}"))
    metafunc.parametrize("claim", [pytest.param(Claim(claim, run, folder), id=claim, marks=marks) for claim in claims])


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Fails a test that has a claim and does not check it: nothing was tried. Tests with further parameters share a
    claim, and each of them has to check it."""
    claim = pyfuncitem.funcargs.get("claim")
    if isinstance(claim, Claim):
        claim.run.checked.discard(claim.name)
    result = yield
    if isinstance(claim, Claim) and claim.name not in claim.run.checked:
        pytest.fail("nothing was tested: the test does not call claim.check()", pytrace=False)
    return result


@pytest.fixture
def claim() -> Claim:
    """A claim of the system of the test's mark `thence`; without the mark, the test cannot run."""
    pytest.fail(f"the fixture claim is for tests that are marked: {_HOW}", pytrace=False)


def _run_of(marker: pytest.Mark, config: pytest.Config) -> tuple[Run, tuple[CheckedClaim, ...]]:
    from thence.conformance.conform.claims import plan
    from thence.spec.user_error import UserError

    words = dict(marker.kwargs)
    for option in ("cases", "seed"):
        if (value := config.getoption(f"thence_{option}")) is not None:
            words[option] = value
    try:
        found = plan(*marker.args, **words)
    except (TypeError, ValueError, UserError) as error:
        raise Broken(str(error)) from error
    _marked.add(found.subject.name)
    return Run(found), found.claims


def _save(folder: Path, claim: str, system: str, text: str) -> Path:
    """Keeps a recorded case, under a name made of its system and its claim."""
    folder.mkdir(exist_ok=True)
    stem = "".join(letter if letter.isalnum() else "_" for letter in system)[-60:].strip("_")
    number, path = 1, folder / f"{stem}-{claim}.json"
    while path.exists() and path.read_text(encoding="utf-8") != text + "\n":
        number += 1
        path = folder / f"{stem}-{claim}-{number}.json"
    draft = path.with_suffix(".tmp")
    draft.write_text(text + "\n", encoding="utf-8")
    draft.replace(path)
    return path


# --- recorded cases ------------------------------------------------------------------------------


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == ".json" and file_path.parent.name == FOLDER:
        return CaseFile.from_parent(parent, path=file_path)
    return None


class CaseFile(pytest.File):
    """A recorded case."""

    def collect(self) -> Iterator[pytest.Item]:
        """It is one test."""
        yield CaseItem.from_parent(self, name="case")


class CaseItem(pytest.Item):
    """Runs a recorded case again: it must have no finding."""

    def runtest(self) -> None:
        """Fails with the findings and the diagram."""
        from thence.conformance.cases.recorded_case import read_case_file
        from thence.conformance.conform.rerun import assert_case_passes
        from thence.conformance.systems.trust import Word
        from thence.spec.user_error import UserError

        wrong = ""
        try:
            recorded = read_case_file(self.path)
            if recorded.system not in {*_marked, *self.config.getini(TRUSTED)}:
                instead = f"list the system in the setting {TRUSTED} of pytest"
                trusted = bool(self.config.getoption("thence_trust_cases"))
                Word(str(self.path), trusted, "--thence-trust-cases", instead).require(recorded.system)
            assert_case_passes(recorded.text())
        except AssertionError as refuted:
            wrong = str(refuted)
        except (UserError, ValueError, OSError) as error:
            wrong = f"{self.path}: {error}"
        if wrong:
            pytest.fail(wrong, pytrace=False)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """The place of the case."""
        return self.path, None, f"recorded case {self.path.name}"
