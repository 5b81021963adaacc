"""The pytest plugin, as it is in the test suite of somebody else."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

MINE = '''
from thence.impl.rst import RST


class Mine(RST):
    """Right."""


class Forgets(RST):
    """Does not take note of what messages bring."""

    def _merge(self, meta):
        pass


class Breaks(RST):
    """Cannot receive."""

    def receive(self, sender, packet):
        raise RuntimeError("not today")


class BreaksLater(RST):
    """Cannot receive a second time."""

    def receive(self, sender, packet):
        self.receive = None
        return super().receive(sender, packet)
'''

THREE_LINES = """
import pytest
from mine import Mine

@pytest.mark.thence(system=Mine, protocol="rst")
def test_mine(claim):
    claim.check()
"""

EVERY_CLAIM = ["started", "conforming", "causal", "fifo", "delivered", "once"]


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A test suite with its systems; what it runs is quick."""
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    pytester.makepyfile(mine=MINE)
    pytester.makeini("[pytest]\naddopts = --strict-markers --thence-cases=60\nfilterwarnings = error")
    pytester.syspathinsert()
    return pytester


def marked(pytester: pytest.Pytester, mark: str, body: str = "claim.check()") -> None:
    pytester.makepyfile(f"import pytest, mine\n\n@pytest.mark.thence({mark})\ndef test_it(claim):\n    {body}\n")


def test_three_lines_are_a_test_for_each_claim(suite: pytest.Pytester) -> None:
    suite.makepyfile(THREE_LINES)
    result = suite.runpytest_subprocess("-v")
    result.assert_outcomes(passed=len(EVERY_CLAIM))
    result.stdout.fnmatch_lines([f"*::test_mine[[]{claim}[]] PASSED*" for claim in EVERY_CLAIM])


def test_what_refutes_a_claim_is_shown(suite: pytest.Pytester) -> None:
    marked(suite, "system=mine.Forgets, channels='fifo'")
    result = suite.runpytest()
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*test_it?causal?*",
            "causal: p1 delivers m2.1 before m0.1 (m0.1 -> m0.2 -> m2.1)",
            "mine:Forgets: * of 60 cases failed; this one has 5 operations:",
            "  3  p2 receives the oldest packet from p0",
            "*├─────m0.1─────▶●*m0.1, too late*",
            "pytest --thence-save keeps it, as a test, in the folder thence_cases beside this one.",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_the_field_that_differs_is_shown(suite: pytest.Pytester) -> None:
    marked(suite, "system='mine:Forgets', protocol='rst', cases=10, claims=['conforming']")
    result = suite.runpytest("--thence-cases=100", "--thence-seed=7")
    result.assert_outcomes(passed=1, failed=1)
    differs = "nonconformance: p*, *`meta` of the subject's MSG is *"
    result.stdout.fnmatch_lines([differs, "*of 100 cases failed against rst;*"])


def test_a_crash_refutes_one_claim(suite: pytest.Pytester) -> None:
    marked(suite, "system=mine.BreaksLater")
    result = suite.runpytest("-v")
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["*started? FAILED*", "crash: p*: 'NoneType' object is not callable*"])


def test_where_nothing_is_delivered_no_claim_passes(suite: pytest.Pytester) -> None:
    marked(suite, "system=mine.Breaks")
    result = suite.runpytest("-v")
    result.assert_outcomes(passed=0, failed=5)
    result.stdout.fnmatch_lines(["*started? FAILED*", "crash: p1: receive(0, Msg(*raises RuntimeError: not today"])
    result.stdout.fnmatch_lines(["no verdict: nothing was delivered in 60 cases"] * 4)


@pytest.mark.long
def test_a_foreign_system(suite: pytest.Pytester) -> None:
    adapter = Path(__file__).parents[3] / "conformance" / "examples" / "python" / "adapter.py"
    command = f"exec:{sys.executable} {adapter}"
    marked(suite, f"system={command!r}, protocol='rst'")
    suite.runpytest().assert_outcomes(passed=6)
    marked(suite, f"system={command + ' --faulty'!r}, protocol='rst', cases=200")
    result = suite.runpytest("--thence-cases=200")
    result.assert_outcomes(passed=4, failed=2)
    result.stdout.fnmatch_lines(["nonconformance: *", "causal: *"])


def test_what_is_not_promised_is_not_claimed(suite: pytest.Pytester) -> None:
    marked(suite, "system='thence.impl.fifo:Fifo', protocol='fifo'")
    result = suite.runpytest("-v")
    result.assert_outcomes(passed=5)
    result.stdout.no_fnmatch_line("*[[]causal[]]*")
    result.stdout.no_fnmatch_line("*[[]prompt[]]*")


@pytest.mark.long
def test_kept_cases_are_tests(suite: pytest.Pytester) -> None:
    marked(suite, "system=mine.Forgets, claims=['causal']")
    result = suite.runpytest_subprocess("--thence-save")
    result.assert_outcomes(passed=1, failed=1)
    [kept] = (suite.path / "thence_cases").iterdir()
    assert kept.name == "mine_Forgets-causal.json"
    result.stdout.fnmatch_lines([f"Kept in {kept}."])
    assert len(json.loads(kept.read_text())["operations"]) == 5
    again = suite.runpytest_subprocess("--thence-save")
    again.assert_outcomes(passed=1, failed=2)
    assert [kept] == list((suite.path / "thence_cases").iterdir()), "the same case is kept once"
    again.stdout.fnmatch_lines(["causal: p1 delivers *", "FAILED thence_cases/mine_Forgets-causal.json::case*"])
    suite.makepyfile(mine=MINE.replace("pass", "super()._merge(meta)"))
    suite.runpytest_subprocess().assert_outcomes(passed=3)


def test_a_class_without_a_name_is_not_kept(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        "import pytest, mine\n"
        "def make():\n"
        "    class Local(mine.Forgets): pass\n"
        "    return Local\n"
        "@pytest.mark.thence(system=make(), claims=['causal'])\n"
        "def test_it(claim): claim.check()\n"
    )
    result = suite.runpytest("--thence-save")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["Not kept in *: nothing can be imported by the name *<locals>.Local."])
    assert not (suite.path / "thence_cases").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "a recorded case is an object with *"),
        ("[", "a recorded case is JSON: *"),
        (
            '{"format": "thence-case/1", "system": "nothing:X", "protocol": null, "settings": {}, "operations": []}',
            "*there is no module nothing*",
        ),
        (
            '{"format": "thence-case/1", "system": "mine:Mine", "protocol": "no", "settings": {}, "operations": []}',
            "*there is no*no*",
        ),
    ],
)
def test_files_that_are_no_cases_fail(suite: pytest.Pytester, content: str, said: str) -> None:
    folder = suite.mkdir("thence_cases")
    (folder / "case.json").write_text(content)
    result = suite.runpytest("--thence-trust-cases")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"*case.json: {said}"])


@pytest.mark.parametrize(
    "system", ["exec:touch canary", "exec-per-process:touch canary", "spoil:X", "isolated:spoil:X"]
)
def test_a_kept_case_runs_nothing_unasked(suite: pytest.Pytester, system: str) -> None:
    suite.makepyfile(spoil="import pathlib\npathlib.Path('canary').touch()\n")
    case = {
        "format": "thence-case/1",
        "system": system,
        "protocol": None,
        "settings": {},
        "operations": [["send", 0, 1]],
    }
    (suite.mkdir("thence_cases") / "case.json").write_text(json.dumps(case))
    result = suite.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*case.json names *Nothing was run.*--thence-trust-cases*thence_trusted*"])
    assert not (suite.path / "canary").exists()
    suite.makeini(f"[pytest]\nthence_trusted =\n    {system}\n")
    suite.runpytest().assert_outcomes(failed=1)
    assert (suite.path / "canary").exists(), "what the suite's own settings list is run"


def test_other_json_files_are_left_alone(suite: pytest.Pytester) -> None:
    (suite.mkdir("cases") / "case.json").write_text("{}")
    suite.makepyfile("def test_nothing(): assert True")
    suite.runpytest().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("", "*missing 1 required positional argument: 'system'"),
        ("system='nothing:X'", "*there is no module nothing*"),
        ("system='exec:no-such-program'", "*there is no program 'no-such-program' to run"),
        ("system=mine.Mine, protocol='nothing'", "*nothing*"),
        ("system=mine.Mine, channels='slow'", "*channels are fifo or reordering, not 'slow'"),
        ("system=mine.Mine, colour='red'", "*unknown setting colour"),
        ("system=mine.Mine, protocol='cbcast'", "*it is to be driven as broadcast"),
        ("system=mine.Mine, claims=['conforming']", "*there is no claim conforming here; there is started, causal, *"),
        ("system=mine.Mine, claims=['runs']", "*there is no claim runs here; there is started, causal, *"),
        ("system=mine.Mine, strict=True", "*strict is True; it is true or false, and true only with a protocol"),
        ("system=mine.Mine, operations=0", "*at least one case of one operation is needed*"),
    ],
)
def test_a_mark_that_cannot_be_followed_is_said_at_collection(suite: pytest.Pytester, mark: str, said: str) -> None:
    marked(suite, mark)
    result = suite.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([said])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_test_is_marked_once(suite: pytest.Pytester) -> None:
    """Before, the upper one of two marks was passed over, and its system never tested. A class's mark is a default."""
    two = "@pytest.mark.thence(system=mine.Mine)\n" * 2
    suite.makepyfile(f"import pytest, mine\n{two}def test_it(claim): claim.check()")
    result = suite.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the test is marked twice, and has claims of one system; write a test for each"])
    body = "@pytest.mark.thence(system=mine.Mine, claims=[])\nclass TestIt:\n"
    body += "    @pytest.mark.thence(system=mine.Mine, claims=[], cases=5)\n    def test_it(self, claim): claim.check()"
    suite.makepyfile(f"import pytest, mine\n{body}")
    suite.runpytest("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_the_mark_and_the_fixture_need_each_other(suite: pytest.Pytester) -> None:
    suite.makepyfile("def test_it(claim): claim.check()")
    result = suite.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the fixture claim is for tests that are marked: @pytest.mark.thence(system=*"])
    suite.makepyfile("import pytest, mine\n@pytest.mark.thence(system=mine.Mine)\ndef test_it(): assert True")
    result = suite.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*test_it is marked with thence, and does not take the fixture claim"])


@pytest.mark.long
def test_a_run_is_shared_between_workers_of_a_group(suite: pytest.Pytester) -> None:
    suite.makepyfile(THREE_LINES)
    result = suite.runpytest_subprocess("-n", "2", "--dist", "loadgroup")
    result.assert_outcomes(passed=len(EVERY_CLAIM))


def test_without_a_mark_nothing_of_thence_is_imported(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        "import sys\n"
        "def test_it():\n"
        "    loaded = {name for name in sys.modules if name.startswith('thence.')}\n"
        "    assert loaded <= {'thence.conformance', 'thence.conformance.pytest_plugin'}\n"
    )
    suite.runpytest_subprocess().assert_outcomes(passed=1)


def test_a_test_that_does_not_check_its_claim_fails(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        """
        import pytest
        from mine import Forgets

        @pytest.mark.thence(system=Forgets, cases=5, claims=["causal"])
        def test_mine(claim):
            claim.check
        """
    )
    result = suite.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*nothing was tested: the test does not call claim.check()*"])


def test_each_value_of_a_further_parameter_checks_the_claim(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        """
        import pytest
        from mine import Mine

        @pytest.mark.parametrize("asked", [True, False])
        @pytest.mark.thence(system=Mine, cases=5, claims=["causal"])
        def test_mine(claim, asked):
            if asked:
                claim.check()
        """
    )
    suite.runpytest("-p", "no:cacheprovider").assert_outcomes(passed=2, failed=2)
