"""Links for any number: the library's are proved, and what is false or too weak is not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.proofs.refinement.post import POST
from tests.proofs.refinement.turns import FAULTS, TURNS
from tests.proofs.refinement.walks import FAULTS as FAULTS_ON_TREES
from tests.proofs.refinement.walks import NO_TREES, WALKS

from thence.conformance.mutation.mutants import meaning, specification_mutants
from thence.dsl import ir
from thence.dsl.load import load, load_bytes, locate
from thence.proofs.logic.formula import FALSE
from thence.proofs.machine.prover import proved_set
from thence.proofs.prove import is_claimed, prove_specification
from thence.proofs.refinement.obligations import obligations
from thence.proofs.refinement.prover import prove_link
from thence.proofs.scopes.link import check_link
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession
from thence.proofs.solving.solver import SolverPool
from thence.spec.verdict import Level, Verdict

LIBRARY = (
    "fifo", "synchronous", "two_phase_commit", "ricart_agrawala", "lamport_mutex", "mf", "tree", "cbcast", "rst",
    "hybrid_basic",
)  # fmt: skip


@pytest.fixture(scope="module")
def session() -> Iterator[ProofSession]:
    options = Options(timeout_ms=2_000)
    with SolverPool(2, None) as pool:
        yield ProofSession(pool, options)


@cache
def specified(text: str) -> ir.Specification:
    loaded = load_bytes(Path("post.thence"), text.encode())
    assert loaded.specification is not None, [each.message for each in loaded.diagnostics]
    return loaded.specification


def claimed(specification: ir.Specification) -> ir.Link:
    """The first link that is stated as proved."""
    return next(each for each in specification.links if is_claimed(each))


def verdict(session: ProofSession, link: ir.Link) -> Verdict:
    return prove_link(session, link, proved_set(session, link.machine)).verdict


def changed(old: str, new: str) -> ir.Link:
    assert old in POST, old
    return specified(POST.replace(old, new, 1)).links[0]


def test_obligations_say_what_they_claim_whatever_the_step() -> None:
    """An invariant has the same claim at first, in a loop and after a handler; so has what enables an event."""
    (link,) = specified(POST).links[:1]
    found = obligations(link, ())
    for invariant in link.invariants:
        words = f"{invariant.name}( \\(\\d+\\))?"
        named = {each.name for each in found if re.fullmatch(f"(.*keeps|initially) {words}", each.name)}
        assert named == {each.name for each in found if each.claim == invariant.name} != set()
    enabled = {each.name for each in found if each.claim == "enabled"}
    assert enabled == {each.name for each in found if re.search("is enabled( \\(\\d+\\))?$", each.name)} != set()


def test_a_link_is_proved(session: ProofSession) -> None:
    link = specified(POST).links[0]
    found = prove_link(session, link, proved_set(session, link.machine))
    assert found.verdict is Verdict.PROVED
    assert found.level is Level.L3
    assert found.discharges


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    if m not in read:", "    if true:"),
        ("      read.add(m)\n", ""),
        ("      read.add(m)\n", "      read.remove(m)\n"),
        ("send LETTER(m) to m.dst", "send LETTER(m) to m.src"),
        ("    if m not in read:", "    if m not in read or counted > 3:"),
        ("      deliver m", "      counted := counted - 1\n      deliver m"),
        ("      deliver m", "      deliver m\n      deliver m"),
        ("      deliver m", "      while counted < 2:\n        counted := counted + 1\n        deliver m"),
        ("  invariant has_read: forall p: process, m: message. delivered(m) and dst(m) = p implies m in read@p\n", ""),
        ("posted(m) and dst(m) = q", "posted(m)"),
        ("implies m in read@p", "implies m in read@p and counted@p = 0 and m not in read@p"),
        ("require posted(m) and not delivered(m)", "require posted(m) and not delivered(m) and not sent(m)"),
    ],
)
def test_what_is_false_or_too_weak_is_not_proved(session: ProofSession, old: str, new: str) -> None:
    assert verdict(session, changed(old, new)) is Verdict.UNKNOWN


@pytest.mark.parametrize(
    "body",
    [
        "forall p: process. counted@p = 1",
        "forall p: process. read@p is empty",
        "exists LETTER(m) in flight. true",
        "not exists LETTER(m) in flight. true",
        "(count LETTER(m) in flight. true) <= 1",
        "forall m: message. not delivered(m)",
    ],
)
def test_a_false_invariant_is_not_proved(session: ProofSession, body: str) -> None:
    link = specified(POST + f"  invariant wrong: {body}\n").links[0]
    assert verdict(session, link) is Verdict.UNKNOWN


def test_true_invariants_of_counts_are_proved(session: ProofSession) -> None:
    """On a network without copies there is one letter of each message, until it is read."""
    text = POST.replace("network duplicating, reordering", "network lossy, reordering")
    text += "  invariant once: forall m: message. (count LETTER(x) in flight. x = m) <= 1\n"
    text += "  invariant unread: forall LETTER(m) from p to q in flight. not delivered(m)\n"
    assert verdict(session, specified(text).links[0]) is Verdict.PROVED
    copied = text.replace("network lossy", "network lossy, duplicating")
    assert verdict(session, specified(copied).links[0]) is Verdict.UNKNOWN


BOXED = (
    POST.replace("    counted: nat\n", "    box: queue of message\n").replace(
        "    if m not in read:\n      read.add(m)\n      deliver m\n",
        "    box.push(m)\n    while box is not empty:\n      if box.first not in read:\n        read.add(box.first)\n"
        "        deliver box.first\n      box.pop()\n",
    )
    + "  invariant between_steps: forall p: process. box@p is empty\n"
    + "  invariant boxed: forall p: process. forall m in box@p. posted(m) and dst(m) = p\n"
)


@pytest.mark.long(but=2, share=10)
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", Verdict.PROVED),
        ("    box.push(m)\n", "    box.push(m)\n    box.push(m)\n", Verdict.UNKNOWN),
        ("      if box.first not in read:", "      if true:", Verdict.UNKNOWN),
        ("        read.add(box.first)\n", "", Verdict.UNKNOWN),
        ("    while box is not empty:", "    if box is not empty:", Verdict.PROVED),
        ("      box.pop()\n", "      box.pop()\n      if box is empty: return\n", Verdict.PROVED),
        ("      box.pop()\n", "      box.pop()\n      return\n", Verdict.PROVED),
        ("    box.push(m)\n", "    box.push(m)\n    if m in read: return\n", Verdict.UNKNOWN),
        ("posted(m) and dst(m) = p", "dst(m) = p", Verdict.PROVED),
        ("box@p is empty\n", "box@p is empty and forall m in read@p. delivered(m)\n", Verdict.PROVED),
        ("box@p is empty\n", "box@p is empty and forall m in read@p. not delivered(m)\n", Verdict.UNKNOWN),
        ("forall p: process. box@p is empty\n", "forall p, q: process. box@p is empty or p = q\n", Verdict.UNKNOWN),
    ],
)
def test_a_loop_that_empties_a_queue(session: ProofSession, old: str, new: str, expected: Verdict) -> None:
    """Between steps the queue is empty: the first round of the loop is executed as it stands."""
    assert old in BOXED
    assert verdict(session, specified(BOXED.replace(old, new, 1) if old else BOXED).links[0]) is expected


ORDERED = (
    POST.replace("network duplicating, reordering", "network reliable, fifo")
    .replace("  message LETTER(m: message) carries m\n", "  message LETTER(m: message, n: nat) carries m\n")
    .replace("    counted: nat\n", "    sent_to: map process to nat\n    got: map process to nat\n")
    .replace(
        "  on causal_send(m): send LETTER(m) to m.dst\n",
        "  on causal_send(m):\n    sent_to[m.dst] := sent_to[m.dst] + 1\n    send LETTER(m, sent_to[m.dst]) to m.dst\n",
    )
    .replace("LETTER(m) from j:\n", "LETTER(m, n) from j:\n    got[j] := n\n")
    .replace("forall LETTER(m) from", "forall LETTER(m, n) from")
    + "  invariant sent_before: forall LETTER(m, n) from p to q in flight. n <= sent_to@p[q] and got@q[p] < n\n"
    + "  invariant numbers: forall p, q: process. got@q[p] <= sent_to@p[q]\n"
    + "  invariant in_order: forall LETTER(m, n) in flight. forall LETTER(x, k) in flight ahead. k < n\n"
)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", Verdict.PROVED),
        ("reliable, fifo", "lossy, fifo", Verdict.PROVED),
        ("reliable, fifo", "duplicating, fifo", Verdict.UNKNOWN),
        ("reliable, fifo", "reliable, reordering", Verdict.UNKNOWN),
        ("k < n\n", "n < k\n", Verdict.UNKNOWN),
        ("sent_to[m.dst] := sent_to[m.dst] + 1", "sent_to[m.src] := sent_to[m.src] + 1", Verdict.UNKNOWN),
        ("forall LETTER(x, k) in flight ahead. k < n", "true", Verdict.UNKNOWN),
    ],
)
def test_channels_that_keep_their_order(session: ProofSession, old: str, new: str, expected: Verdict) -> None:
    """What arrives has a larger number than all before: no two packets of a channel change places."""
    assert old in ORDERED
    assert verdict(session, specified(ORDERED.replace(old, new, 1) if old else ORDERED).links[0]) is expected


@pytest.mark.long
def test_the_library_is_proved() -> None:
    for name in LIBRARY:
        specification = load(name).specification
        assert specification is not None
        names = [link.name for link in specification.links if is_claimed(link)]
        found = prove_specification(specification, names, Options(timeout_ms=5_000))
        assert {each.subject for each in found} == set(names)
        for each in found:
            assert each.verdict is Verdict.PROVED, each.explanation
            assert each.expected


def mutants() -> list[tuple[str, str]]:
    """The planted faults of protocols that break the link in a scope."""
    found = []
    for name in LIBRARY:
        specification = load(name).specification
        assert specification is not None
        for mutant in specification.mutants:
            if mutant.subject == claimed(specification).protocol.name and any(
                each.verdict == "refuted" and "link" in each.names for each in mutant.expects
            ):
                found.append((name, mutant.name))
    return found


@pytest.mark.long(but=("two_phase_commit-votes_again",))
@pytest.mark.parametrize(("name", "mutant"), mutants())
def test_a_planted_fault_is_not_proved(session: ProofSession, name: str, mutant: str) -> None:
    specification = load(name).specification
    assert specification is not None
    link = claimed(specification)
    mutated = next(each.mutated for each in specification.mutants if each.name == mutant)
    assert isinstance(mutated, ir.Protocol)
    assert verdict(session, replace(link, protocol=mutated)) is Verdict.UNKNOWN


@pytest.mark.parametrize("name", LIBRARY)
def test_what_is_assumed_has_a_state(session: ProofSession, name: str) -> None:
    """No conditions contradict each other: of each way to a goal, `false` does not follow from what is known there.

    Ways that cannot be taken are few, and only those that the invariants exclude.
    """
    specification = load(name).specification
    assert specification is not None
    link = claimed(specification)
    inductive = proved_set(session, link.machine)
    assert inductive is not None
    found = [each for each in obligations(link, ()) if "keeps" in each.name or "initially" in each.name]
    possible = {}
    for each in found:
        step = each.name.partition(":")[0]
        false = replace(each, goal=replace(each.goal, body=FALSE))
        if step not in possible or not possible[step]:
            (answer,) = session.within(300).with_one_solver().discharge((false,), look_for_models=False)
            possible[step] = not answer.proved
    assert all(possible.values()), possible


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("deliver m      is", "send LETTER(m) to j is tidy(m), once\n  deliver m      is", "`once`"),
        ("  deliver m      is", "  internal tidy\n  deliver m      is", "`internal` transitions"),
    ],
)
def test_what_has_no_encoding_is_named(session: ProofSession, old: str, new: str, named: str) -> None:
    text = POST.replace("  invariant had_sent", "  transition tidy(m):\n    require delivered(m)\n  invariant had_sent")
    link = specified(text.replace(old, new, 1)).links[0]
    found = prove_link(session, link, proved_set(session, link.machine))
    assert found.facts["unknown"] == f"{named} of a link: no encoding"


def test_a_file_that_claims_too_much_is_not_as_expected() -> None:
    text = POST.replace("posted(m) and dst(m) = q", "posted(m)") + "  expect proved\n"
    found = prove_specification(specified(text), options=Options(timeout_ms=2_000))
    link = next(each for each in found if each.kind == "link")
    assert link.verdict is Verdict.UNKNOWN
    assert not link.expected
    assert "fails in this state" in link.explanation


def test_the_library_says_which_links_are_proved() -> None:
    for name in LIBRARY:
        assert "\n  expect proved\n" in locate(name).read_text(encoding="utf-8")


# --- all edits of a protocol ----------------------------------------------------------------------


@pytest.mark.long(but=("post",), share=0)
@pytest.mark.parametrize("name", ["post", "synchronous"])
def test_what_is_proved_of_an_edited_protocol_is_true_in_scopes(session: ProofSession, name: str) -> None:
    """Each edit of the protocol's text: where the link is proved, no run of its scopes refutes it."""
    loaded = load_bytes(Path("post.thence"), POST.encode()) if name == "post" else load(name)
    assert loaded.specification is not None
    (link,) = loaded.specification.links
    quick = session.with_one_solver().within(600)
    inductive = proved_set(session, link.machine)
    verdicts: dict[Verdict, int] = {}
    for mutant in specification_mutants(loaded, link.protocol):
        changed_text = meaning(mutant)
        if changed_text is None:
            continue
        (protocol,) = changed_text.protocols
        found = prove_link(quick, replace(link, protocol=protocol), inductive).verdict
        verdicts[found] = verdicts.get(found, 0) + 1
        if found is Verdict.PROVED:
            for scope in link.scopes:
                assert check_link(link, protocol, scope.workload).refuted is None, mutant.title
    assert verdicts[Verdict.PROVED] >= 3
    assert verdicts[Verdict.UNKNOWN] >= 3


def test_a_machine_may_order_its_processes(session: ProofSession) -> None:
    """By their numbers, as the protocol does: in any number, and in a scope."""
    content = specified(TURNS)
    assert content.machines[0].ordered == ("process",)
    assert verdict(session, content.links[0]) is Verdict.PROVED
    assert check_link(content.links[0], content.protocols[0], content.scopes[0].workload).refuted is None


@pytest.mark.parametrize(("old", "new"), FAULTS)
def test_an_order_of_processes_that_is_not_kept_is_found(session: ProofSession, old: str, new: str) -> None:
    content = specified(TURNS.replace(old, new, 1))
    assert verdict(session, content.links[0]) is not Verdict.PROVED
    assert check_link(content.links[0], content.protocols[0], content.scopes[0].workload).refuted is not None


def test_trees_of_any_size(session: ProofSession) -> None:
    content = specified(WALKS)
    link = content.links[0]
    found = prove_link(session, link, proved_set(session, link.machine))
    assert (found.verdict, found.level) == (Verdict.PROVED, Level.L3)
    assert check_link(link, content.protocols[0], content.scopes[0].workload).refuted is None


@pytest.mark.long(but=("4",))
@pytest.mark.parametrize(("old", "new"), FAULTS_ON_TREES, ids=range(len(FAULTS_ON_TREES)))
def test_a_fault_on_a_tree_is_not_proved(session: ProofSession, old: str, new: str) -> None:
    assert old in WALKS
    assert verdict(session, specified(WALKS.replace(old, new, 1)).links[0]) is Verdict.UNKNOWN


@pytest.mark.long
@pytest.mark.parametrize("axiom", NO_TREES, ids=range(len(NO_TREES)))
def test_axioms_that_are_false_of_some_tree_are_not_taken(session: ProofSession, axiom: str) -> None:
    link = specified(WALKS.replace("  axiom begins", f"  axiom wrong: {axiom}\n  axiom begins", 1)).links[0]
    found = prove_link(session, link, proved_set(session, link.machine))
    assert found.verdict is Verdict.UNKNOWN
    assert "axiom wrong" in found.facts["unknown"]


def test_a_local_collection_that_a_loop_changes_is_named(session: ProofSession) -> None:
    reading = "  on receive LETTER(m) from j:\n"
    assert reading in POST
    gathering = "    var early: set of message = empty\n    for x in read: early.add(x)\n"
    (link,) = specified(POST.replace(reading, reading + gathering)).links
    found = prove_link(session, link, proved_set(session, link.machine))
    assert found.verdict is Verdict.UNKNOWN
    assert found.facts["unknown"] == (
        "`early` is a local collection that a loop changes: no encoding; a variable of the state can be in its place"
    )
