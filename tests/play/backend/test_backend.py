"""The questions of the player: every file of the library, runs as documents, and what is no question."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import pytest

from thence.dsl import ir
from thence.dsl.load import library, load
from thence.dsl.run.causality import WATCHED
from thence.dsl.run.identity_reuse import system_of
from thence.dsl.run.narrate import replay, show_packet
from thence.dsl.run.scoped import watching
from thence.dsl.run.values import show
from thence.play.backend.backend import MOST_RUNS, Backend
from thence.proofs.scopes.scopes import explore_scope

NAMES = [path.stem for path in library()]


def loaded(backend: Backend, name: str) -> dict[str, Any]:
    """A file of the library, loaded."""
    answer = backend.call("load", backend.call("open", {"name": name}))
    json.dumps(answer)
    return answer


@cache
def content(name: str) -> ir.Specification:
    found = load(name).specification
    assert found is not None
    return found


def values_at(run: dict[str, Any], at: int) -> list[list[str]]:
    """The states of the processes after so many steps, as the page computes them."""
    values = [list(each) for each in run["initial"]]
    for step in run["steps"][:at]:
        if "values" in step:
            values[step["process"]] = step["values"]
    return values


@pytest.mark.parametrize("name", NAMES)
def test_every_file_of_the_library_loads_without_errors(name: str) -> None:
    answer = loaded(Backend(), name)
    assert [found for found in answer["diagnostics"] if found["severity"] == "error"] == []
    found = content(name)
    assert [one["name"] for one in answer["summary"]["protocols"]] == [one.name for one in found.protocols]
    assert [one["name"] for one in answer["summary"]["scenarios"]] == [one.name for one in found.scenarios]
    scopes = {scope["name"] for one in answer["summary"]["protocols"] for scope in one["scopes"]}
    assert scopes == {scope.name for scope in found.scopes}


def assert_agrees(run: dict[str, Any], protocol: ir.Protocol, workload: ir.Workload) -> None:
    """The document has the states, and the ways through the text, of the interpreter's own run of the same steps."""
    system = system_of(watching(protocol, [name for name in WATCHED if name in protocol.properties]), workload)
    steps = replay(system, [step["recorded"] for step in run["steps"]])
    for at in range(len(steps) + 1):
        state = system.initial() if at == 0 else steps[at - 1].outcome.state
        expected = [
            [show(value, variable.type) for value, variable in zip(local, system.protocol.state, strict=True)]
            for local in system.locals_of(state)
        ]
        assert values_at(run, at) == expected
        flying = sorted(one[7] for one in run["packets"] if one[4] <= at and not any(
            end is not None and end <= at for end in (one[5], one[6])))  # fmt: skip
        if run["end"] == "fault" and at == len(steps):
            continue  # the state is left as it was, while the picture shows what arrived
        assert flying == sorted(show_packet(system, system.packet(number)) for number in state.network)
    for step, known in zip(run["steps"], steps, strict=True):
        assert (step["title"], tuple(step["details"])) == (known.title, known.details)
        trail = step.get("trail", {"handler": None, "lines": []})
        if trail["handler"] is not None:
            sending = [one for one in protocol.handlers if one.event == "causal_send" and known.action.reactions]
            for line in trail["lines"]:
                inside = trail["handler"][0] <= line <= trail["handler"][1]
                others = (*protocol.procedures, *sending)
                assert inside or any(one.span.line <= line <= one.span.end_line for one in others)
        sends_or_delivers = any(text.startswith(("sends ", "delivers ")) for text in step["details"])
        assert not sends_or_delivers or trail["lines"], "a step that emits something executes a statement"


SCOPES = [(name, scope.name) for name in NAMES for scope in content(name).scopes]


@pytest.mark.parametrize(
    ("name", "scope"),
    [pytest.param(*each, id="-".join(each)) for each in random.Random(17).sample(SCOPES, 12)],
)
def test_a_random_run_has_the_states_of_the_interpreter(name: str, scope: str) -> None:
    assert_random_run_agrees(name, scope)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_random_runs_of_every_scope_have_the_states_of_the_interpreter(name: str) -> None:
    for scope in content(name).scopes:
        assert_random_run_agrees(name, scope.name)


def assert_random_run_agrees(name: str, scope: str) -> None:
    found = content(name)
    chosen = next(one for one in found.scopes if one.name == scope)
    protocol = next(one for one in found.protocols if one.name == chosen.protocol)
    backend = Backend()
    begun = {"spec": loaded(backend, name)["spec"], "scope": scope}
    run = backend.call("start", begun)
    more = backend.call("random", {"session": run["session"], "count": 40, "seed": 3, "on": True})
    assert "error" not in more, more
    run |= more
    json.dumps(run)
    assert_agrees(run, protocol, chosen.workload)
    again = backend.call("start", {**begun, "steps": [step["recorded"] for step in run["steps"]]})
    for key in ("initial", "packets", "end"):
        assert again[key] == run[key]
    assert again["steps"] == run["steps"]
    at = len(run["steps"]) // 2
    enabled = backend.call("enabled", {"session": run["session"], "at": at})["choices"]
    if at < len(run["steps"]):
        assert run["steps"][at]["title"] in [each["title"] for each in enabled]
        chosen_step = next(each for each in enabled if each["title"] == run["steps"][at]["title"])
        taken = backend.call("take", {"session": run["session"], "at": at, "number": chosen_step["number"]})
        assert taken["since"] == at and len(taken["steps"]) == 1
        assert taken["steps"][0]["title"] == chosen_step["title"]
        values = values_at({**run, "steps": [*run["steps"][:at], *taken["steps"]]}, at + 1)
        assert values == values_at(run, at + 1) or taken["steps"][0]["recorded"] != run["steps"][at]["recorded"]


@pytest.mark.parametrize("name", [name for name in NAMES if content(name).scenarios])
def test_a_scenario_is_played_with_its_names_lines_and_assertions(name: str) -> None:
    backend = Backend()
    spec = loaded(backend, name)["spec"]
    lines = load(name).source.text.split("\n")
    for scenario in content(name).scenarios:
        run = backend.call("start", {"spec": spec, "scenario": scenario.name})
        played = run["played"]
        assert len(played["lines"]) == len(run["steps"])
        for step, line in zip(run["steps"], played["lines"], strict=True):
            assert step["title"].split()[0] in lines[line - 1]
        assert set(scenario.processes) <= {*run["names"].values()}
        if played["failure"] is None:
            assert all(each["holds"] for each in played["assertions"])
        else:
            assert played["failure"]["line"] in [each["line"] for each in played["assertions"]] or run["steps"] != []


def test_an_invariant_that_fails_is_explained_by_a_witness_and_the_part_that_decides() -> None:
    text = """\
protocol counting:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    got: nat
    other: bool
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    got := got + 1
    deliver m
  property at_most_once
  invariant few: forall p: process. other@p or got@p < 2 and got@p <= 5
scope small of counting:
  processes 2
  sends 2 per process
"""
    backend = Backend()
    spec = backend.call("load", {"text": text, "name": "counting.thence"})["spec"]
    explored = backend.call("explore", {"spec": spec, "scope": "small"})
    found = next(each for each in explored["results"] if each["property"] == "few")
    assert found["verdict"] == "refuted"
    run = backend.call("start", {"spec": spec, "scope": "small", "steps": found["steps"]})
    judged = backend.call("judge", {"session": run["session"]})["answers"]
    few = next(each for each in judged if each["property"] == "few")
    assert (few["standing"], few["here"], few["step"]) == ("violated", False, len(found["steps"]))
    process = few["reason"]["witness"][0]
    assert process[0] == "p"
    assert few["reason"]["part"] == "other@p or got@p < 2 and got@p <= 5"
    assert ["got@p", "2"] in few["reason"]["values"]
    earlier = backend.call("judge", {"session": run["session"], "at": len(found["steps"]) - 1})["answers"]
    assert next(each for each in earlier if each["property"] == "few")["standing"] == "not violated"


def test_a_search_gives_what_the_engine_gives() -> None:
    backend = Backend(engine="interpreted")
    for name, scope in (("rst", "one"), ("fifo", None), ("ses", None)):
        found = content(name)
        chosen = next(one for one in found.scopes if scope in (None, one.name) and one.workload.ends)
        protocol = next(one for one in found.protocols if one.name == chosen.protocol)
        answer = backend.call("explore", {"spec": loaded(backend, name)["spec"], "scope": chosen.name})
        expected = explore_scope(protocol, chosen.name, chosen.workload, chosen.expects)
        assert [(each["property"], each["verdict"], each["states"]) for each in answer["results"]] == [
            (each.facts["property"], each.verdict.value, each.facts["states"]) for each in expected
        ]


def test_a_state_is_found_or_is_not_there() -> None:
    backend = Backend()
    spec = loaded(backend, "rst")["spec"]

    def find(formula: str) -> dict[str, Any]:
        return backend.call("find", {"spec": spec, "scope": "one", "formula": formula})

    found = find("exists p, q: process. DELIV@p[q] = 1 and p != q")
    assert found["answer"] == "reached"
    run = backend.call("start", {"spec": spec, "scope": "one", "steps": found["result"]["steps"]})
    assert any("DELIV" in line for line in run["steps"][-1]["details"])
    assert len(run["steps"]) == 2
    assert find("exists p, q: process. DELIV@p[q] = 2")["answer"] == "unreachable"
    wrong = find("exists p: process. DELI@p[p] = 1")["diagnostics"]
    assert [(each["code"], each["column"]) for each in wrong] == [("E0207", 20)]
    for formula in ("", "true\nproperty causal", "true # and more"):
        assert find(formula)["error"]["kind"] == "BadQuestion"


def test_a_mutant_stands_beside_the_original() -> None:
    backend = Backend()
    spec = loaded(backend, "rst")["spec"]
    found = backend.call("compare", {"spec": spec, "mutant": "no_merge"})
    assert found["property"] == "causal"
    mutant = backend.call("start", {"spec": spec, **found["mutant"]["start"], "steps": found["mutant"]["steps"]})
    original = backend.call("start", {"spec": spec, **found["original"]["start"], "steps": found["original"]["steps"]})
    assert mutant["steps"][-1]["violations"][0]["property"] == "causal"
    assert found["original"]["stopped"] == "" and len(original["steps"]) == len(mutant["steps"])
    assert not any(each["claimed"] for step in original["steps"] for each in step.get("violations", []))


@pytest.mark.parametrize(
    ("method", "asked", "kind"),
    [
        ("nothing", {}, "BadQuestion"),
        ("open", {"name": "../../etc/passwd"}, "NotThere"),
        ("open", {"name": "/etc/passwd"}, "NotThere"),
        ("open", {"name": 7}, "BadQuestion"),
        ("load", {}, "BadQuestion"),
        ("start", {"spec": "gone"}, "Gone"),
        ("start", {}, "BadQuestion"),
        ("enabled", {"session": "run99"}, "Gone"),
        ("explore", {"spec": "gone"}, "Gone"),
    ],
)
def test_what_cannot_be_answered_is_an_error_of_the_user(method: str, asked: dict[str, Any], kind: str) -> None:
    assert Backend().call(method, asked)["error"]["kind"] == kind


def test_fields_of_the_wrong_kind_are_refused() -> None:
    backend = Backend()
    spec = loaded(backend, "rst")["spec"]
    for wrong in (
        {"scope": 3}, {"scope": "nowhere"}, {"processes": "x"}, {"processes": 0}, {"processes": True},
        {"settings": "losses 1"}, {"settings": ["nonsense 1"]}, {"mutant": "nobody"}, {"protocol": "nobody"},
        {"steps": "x"}, {"steps": [{"action": "send"}]}, {"steps": [1]}, {"sends": "many"}, {"scenario": "none"},
    ):  # fmt: skip
        assert "error" in backend.call("start", {"spec": spec, **wrong}), wrong
    run = backend.call("start", {"spec": spec, "scope": "one"})
    for wrong in ({"at": -1}, {"at": 1}, {"at": "0"}, {"at": True}, {"number": 0}, {"number": 10**6}):
        assert "error" in backend.call("take", {"session": run["session"], **wrong}), wrong
    assert backend.call("trail", {"session": run["session"], "at": 0})["error"]["kind"] == "BadQuestion"


def test_a_text_with_faults_has_them_and_a_text_without_declarations_says_so() -> None:
    backend = Backend()
    answer = backend.call("load", {"text": "protocol <script>:\n  x", "name": "<b>.thence"})
    assert answer["summary"] is None and answer["diagnostics"]
    assert "error" in backend.call("start", {"spec": answer["spec"]})
    assert backend.call("load", {"text": "", "name": "x"})["spec"] is None
    assert backend.call("load", {"text": "\ud800", "name": "x"})["summary"] is None


def test_only_the_last_runs_are_kept() -> None:
    backend = Backend()
    spec = loaded(backend, "rst")["spec"]
    first = backend.call("start", {"spec": spec, "scope": "one"})["session"]
    for _ in range(MOST_RUNS):
        backend.call("start", {"spec": spec, "scope": "one"})
    assert backend.call("enabled", {"session": first})["error"]["kind"] == "Gone"


def test_a_run_is_saved_as_a_scenario() -> None:
    backend = Backend()
    text = backend.call("open", {"name": "rst"})
    spec = backend.call("load", text)["spec"]
    run = backend.call("start", {"spec": spec, "scope": "one"})
    more = backend.call("random", {"session": run["session"], "seed": 1, "count": 6})
    saved = backend.call("save", {"session": run["session"], "name": "mine"})["text"]
    again = backend.call("load", {"text": f"{text['text']}\n\n{saved}", "name": "rst"})
    assert [found for found in again["diagnostics"] if found["severity"] == "error"] == []
    played = backend.call("start", {"spec": again["spec"], "scenario": "mine"})
    assert len(played["steps"]) == len(more["steps"]) and played["played"]["failure"] is None


CHOOSING = """
protocol lazy:
  network reliable
  message MSG(m: message) carries m
  state:
    got: nat
    kept: queue of message
  on causal_send(m): send MSG(m) to m.dst
  on receive MSG(m) from j:
    either: kept.push(m)
    or: deliver m
    got := got + 1
  invariant few: when p delivers m: got@p < 2
  reachable second: when p receives MSG(m) from q: got@p = 2

scope two of lazy:
  processes 2
  sends 2, 0

scenario played of lazy:
  processes p0, p1
"""


def run_that_chooses(backend: Backend, *branches: int) -> str:
    """A run of `lazy`: two sends, then arrivals that take these branches."""
    spec = backend.call("load", {"text": CHOOSING, "name": "lazy"})["spec"]
    run: str = backend.call("start", {"spec": spec, "scope": "two"})["session"]
    for wanted in ("causal_send", "causal_send", *(f"branch {branch}" for branch in branches)):
        choices = backend.call("enabled", {"session": run})["choices"]
        number = next(each["number"] for each in choices if wanted in each["title"])
        backend.call("take", {"session": run, "number": number})
    return run


def test_a_run_that_chooses_is_saved_beside_other_scenarios_and_played_again() -> None:
    backend = Backend()
    run = run_that_chooses(backend, 2, 1)
    saved = backend.call("save", {"session": run})
    assert saved["name"] == "played_2" and "assert delivered_at(m0_1, p1)" in saved["text"]
    again = backend.call("load", {"text": f"{CHOOSING}\n{saved['text']}", "name": "lazy"})
    played = backend.call("start", {"spec": again["spec"], "scenario": "played_2"})
    assert played["played"]["failure"] is None
    chosen = [[line for line in step["details"] if "branch" in line] for step in played["steps"]]
    assert chosen == [[], [], ["takes branch 2 of `either`"], ["takes branch 1 of `either`"]]


def test_a_formula_about_an_action_has_a_reason_right_after_the_step_that_decides() -> None:
    backend = Backend()
    run = run_that_chooses(backend, 1, 2)

    def judged(at: int) -> dict[str, Any]:
        return {each["property"]: each for each in backend.call("judge", {"session": run, "at": at})["answers"]}

    assert judged(2)["few"]["reason"] is None and judged(3)["few"]["reason"] is None
    few, second = judged(4)["few"], judged(4)["second"]
    assert (few["standing"], few["step"], few["here"]) == ("violated", 4, False)
    assert few["reason"] == {
        "witness": [["p", "p1"], ["m", "m0.2"]], "part": "got@p < 2", "holds": False,
        "values": [["got@p", "2"]], "line": few["line"],
    }  # fmt: skip
    assert (second["standing"], second["here"], second["reason"]["holds"]) == ("reached", True, True)


def test_a_search_ends_when_it_is_told_to() -> None:
    backend = Backend(engine="interpreted")
    spec = loaded(backend, "rst")["spec"]
    told: list[Any] = []

    def tell(progress: Any) -> None:
        told.append(progress)
        raise KeyboardInterrupt

    answer = backend.call("explore", {"spec": spec, "scope": "two", "properties": ["causal"]}, tell)
    assert told and not answer["complete"]
    assert {each["verdict"] for each in answer["results"]} <= {"unknown"}


def test_a_search_stops_at_its_limit_and_says_so() -> None:
    backend = Backend(engine="interpreted")
    spec = loaded(backend, "rst")["spec"]
    answer = backend.call("explore", {"spec": spec, "scope": "two", "limit": 50})
    assert {each["verdict"] for each in answer["results"]} == {"unknown"}
    assert "50 states" in answer["results"][0]["unknown"]
