"""Certificates of links that are proved for any number of processes: written, rechecked, and not to be forged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.proofs.certificate.conftest import Forgery
from tests.proofs.refinement.post import POST

from thence.dsl import ir
from thence.proofs import prove
from thence.proofs.certificate import recheck
from thence.proofs.certificate.ids.link_id import link_id
from thence.proofs.certificate.solver_results import Note, solve
from thence.proofs.solving.discharge import Options
from thence.spec.verdict import Verdict

Specify = Callable[[str], ir.Specification]
Forge = Callable[[Path], Any]

PROVED = POST + "  expect proved\n"

SAME = {
    "an invariant of the link": ("m in read@p\n", "m in read@p\n  invariant more: forall p: process. counted@p = 0\n"),
    "what is claimed of the protocol": ("  property at_most_once, no_creation\n", "  property at_most_once\n"),
    "a scope": ("  sends 2, 1\n", "  sends 1, 1\n"),
    "comments": ("protocol post:", 'protocol post:\n  """By mail."""  # new'),
    "order of declarations": (
        "    read: set of message\n    counted: nat\n",
        "    counted: nat\n    read: set of message\n",
    ),
    "what the machine proves": ("  prove at_most_once, no_creation\n", "  prove at_most_once\n"),
}

DIFFERENT = {
    "a handler": ("      read.add(m)\n", "      read.add(m)\n      counted := 1\n"),
    "its condition": ("if m not in read", "if m in read"),
    "its receiver": ("send LETTER(m) to m.dst", "send LETTER(m) to m.src"),
    "the network": ("network duplicating, reordering", "network lossy, duplicating, reordering"),
    "an initial value": ("counted: nat", "counted: nat = 1"),
    "a guard of the machine": ("require posted(m) and not delivered(m)", "require sent(m) and not delivered(m)"),
}  # fmt: skip


def test_ids_of_links(specify: Specify) -> None:
    def of(text: str) -> str:
        (link,) = specify(text).links
        return link_id(link)

    assert all(old in PROVED for old, _ in (*SAME.values(), *DIFFERENT.values()))
    changed = {name: of(PROVED.replace(*change)) for name, change in SAME.items()}
    assert set(changed.values()) == {of(PROVED)}, changed
    others = [of(PROVED.replace(*change)) for change in DIFFERENT.values()]
    assert len({of(PROVED), *others}) == 1 + len(DIFFERENT)


ROUTED = """
machine counts:
  relation posted(m: message)
  function told(p: process, k: process): nat
  axiom to_others: forall m. src(m) != dst(m)
  transition causal_send(m):
    posted(m) := true
  transition deliver(m):
    require posted(m) and not delivered(m)
    forall p, k: told(p, k) := told(p, k) + if p = dst(m) and k = src(m) then 1 else 0
  invariant had_sent: forall m. posted(m) implies sent(m)
  prove at_most_once, no_creation

protocol routed:
  network reliable, reordering, tree
  message LETTER(m: message) carries m
  state:
    told: map process to nat
  on causal_send(m): send LETTER(m) to next_hop[m.dst]
  on receive LETTER(m) from j:
    if m.dst != self: send LETTER(m) to next_hop[m.dst]
    else:
      told[m.src] := told[m.src] + 1
      deliver m
  property at_most_once, no_creation

scope small of routed:
  processes 2
  sends 1, 1

conforms routed to counts:
  causal_send(m) is causal_send(m)
  deliver m      is deliver(m)
  invariant on_its_way: forall LETTER(m) in flight. posted(m) and not delivered(m)
  invariant once: forall m: message. (count LETTER(x) in flight. x = m) <= 1
  invariant same: forall p: process, k: process. told@p[k] = told(p, k)
  expect proved
"""

FORGED = {
    "a map's invariant is left out": ("  invariant same: forall p: process, k: process. told@p[k] = told(p, k)\n", ""),
    "a map's invariant is turned round": ("told@p[k] = told(p, k)", "told@p[k] != told(p, k)"),
    "a map is written in another way": ("told[m.src] := told[m.src] + 1", "told[m.src] := told[m.src] + 2"),
    "an invariant of packets is turned round": ("posted(m) and not delivered(m)\n  inv", "delivered(m)\n  inv"),
    "a packet may be lost": ("network reliable,", "network lossy,"),
    "a packet is sent twice": (
        "m.dst != self: send LETTER(m) to next_hop[m.dst]",
        "m.dst != self: send LETTER(m) to next_hop[m.dst]; send LETTER(m) to next_hop[m.dst]",
    ),
    "a tree is walked to another end": ("causal_send(m): send LETTER(m) to next_hop[m.dst]", "causal_send(m): pass"),
    "a tree's channels keep their order": ("reordering, tree", "fifo, tree"),
    "a branch of a handler is turned round": ("if m.dst != self", "if m.dst = self"),
}  # fmt: skip


def test_a_clause_counts(specify: Specify) -> None:
    text = PROVED.replace(
        "  invariant had_sent", "  transition tidy(m):\n    require delivered(m)\n  invariant had_sent"
    )
    more = text.replace(
        "deliver(m)\n  invariant on", "deliver(m)\n  receive LETTER(m) from j is tidy(m)\n  invariant on"
    )
    assert more != text
    assert link_id(specify(text).links[0]) != link_id(specify(more).links[0])


@pytest.fixture(scope="session")
def post(certify: Callable[..., Any]) -> Path:
    return certify("post", PROVED)[1]  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def routed(certify: Callable[..., Any]) -> Path:
    """Maps, packets of which there is one each, and a tree network; without proof objects."""
    return certify("routed", ROUTED, "routed to counts", checked=False)[1]  # type: ignore[no-any-return]


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Lets a recheck take over the answers to obligations that are in a genuine certificate; it solves all others."""

    def remember(genuine: Path) -> None:
        original = Forgery(genuine)
        known = {original.text(each["file"]): each["results"] for each in original.manifest()["obligations"]}

        def answers(texts: Sequence[str], options: Options, note: Note | None = None) -> tuple[Mapping[str, str], ...]:
            new = [text for text in texts if text not in known]
            told = {**known, **dict(zip(new, solve(new, options, note), strict=True))}
            return tuple(told[text] for text in texts)

        monkeypatch.setattr(recheck, "solve", answers)

    return remember


def _link(value: dict[str, Any]) -> Any:
    (found,) = (each for each in value["statements"] if each["kind"] == "link" and not each["rests_on"])
    return found


def _of_protocol(value: dict[str, Any]) -> Any:
    return next(each for each in value["statements"] if each["rests_on"])


def test_a_link_is_certified_and_confirmed(post: Path, forge: Forge) -> None:
    copy = forge(post)
    link = _link(copy.manifest())
    assert (link["subject"], link["verdict"]) == ("post to posts", "proved") and link["level"] in ("L3", "L4")
    assert link["says"][1:] == ["clause: causal_send(m) is causal_send(m)", "clause: deliver(m) is deliver(m)"]
    found = copy.recheck()
    assert found.confirmed, found
    assert {each.statement.kind for each in found.confirmations} == {"machine", "link"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("      read.add(m)\n", "      pass\n"),
        ("    if m not in read:\n      read.add(m)\n      deliver m\n", "    deliver m\n"),
        ("deliver m      is deliver(m)", "deliver m      is causal_send(m)"),
    ],
)
def test_another_source_is_found_out(
    post: Path, forge: Forge, remembered: Callable[[Path], None], old: str, new: str
) -> None:
    remembered(post)
    copy = forge(post)
    copy.replace("sources/post.thence", old, new)
    copy.sign()
    assert not copy.recheck().confirmed


def test_a_link_need_not_claim_its_proof(post: Path, forge: Forge, remembered: Callable[[Path], None]) -> None:
    """`thence prove FILE LINK` proves it all the same."""
    remembered(post)
    copy = forge(post)
    copy.replace("sources/post.thence", "  expect proved\n", "")
    copy.sign()
    assert copy.recheck().confirmed


def test_a_link_of_a_protocol_that_delivers_nothing_is_not_confirmed(
    certify: Callable[..., Any], forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = PROVED.replace("send LETTER(m) to m.dst", "read.add(m)")
    with monkeypatch.context() as without:
        without.setattr(prove, "says_nothing", lambda link: None)
        made = certify("idle", idle, "post to posts", checked=False)[1]
    copy = forge(made)
    assert [each["kind"] for each in copy.manifest()["statements"]] == ["link"]
    assert not copy.recheck().confirmed


def test_a_link_cannot_be_certified_with_fewer_obligations(
    post: Path, forge: Forge, remembered: Callable[[Path], None]
) -> None:
    """The obligation that is left out is still one of another statement's, so that the files are all used."""
    remembered(post)
    copy = forge(post)

    def fewer(value: dict[str, Any]) -> None:
        machines = {file for each in value["statements"] if each["kind"] == "machine" for file in each["obligations"]}
        link = _link(value)
        shared = next(file for file in link["obligations"] if file in machines)
        link["obligations"].remove(shared)

    copy.sign(fewer)
    found = copy.recheck()
    assert found.faults and not found.confirmed


def test_a_link_is_not_refuted_by_a_certificate(post: Path, forge: Forge, remembered: Callable[[Path], None]) -> None:
    remembered(post)
    copy = forge(post)

    def refuted(value: dict[str, Any]) -> None:
        link = _link(value)
        link["verdict"] = Verdict.REFUTED.value

    copy.sign(refuted)
    assert not copy.recheck().confirmed


@pytest.mark.long
def test_maps_packets_and_trees_are_confirmed(routed: Path, forge: Forge, remembered: Callable[[Path], None]) -> None:
    remembered(routed)
    found = forge(routed).recheck()
    assert found.confirmed, found
    assert [(each.statement.kind, each.statement.subject) for each in found.confirmations] == [
        ("link", "routed to counts")
    ]


@pytest.mark.long(share=2)
@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_another_map_packet_or_tree_is_found_out(
    routed: Path, forge: Forge, remembered: Callable[[Path], None], change: tuple[str, str]
) -> None:
    remembered(routed)
    copy = forge(routed)
    copy.replace("sources/routed.thence", *change)
    copy.sign()
    found = recheck.recheck(copy.directory, Options(workers=1, timeout_ms=300), None)
    assert not found.confirmed and not any(each.confirmed for each in found.confirmations), found


@pytest.mark.long
def test_another_goal_is_found_out(routed: Path, forge: Forge, remembered: Callable[[Path], None]) -> None:
    """An obligation with another goal that is unsatisfiable, too."""
    remembered(routed)
    copy = forge(routed)
    named = {each["name"]: each["file"] for each in copy.manifest()["obligations"]}
    file = named["receive LETTER: keeps once"]
    lines = copy.text(file).splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if "; the goal" in line)
    lines[at] = "(assert false) ; the goal\n"
    (copy.directory / file).write_text("".join(lines), encoding="utf-8")
    copy.sign()
    found = copy.recheck()
    assert found.faults and not found.confirmed


# --- properties of protocols ----------------------------------------------------------------------

OTHER = PROVED.replace(
    "protocol post:", PROVED[PROVED.index("machine") : PROVED.index("protocol")] + "protocol post:", 1
)
OTHER = OTHER.replace("machine posts:", "machine others:", 1)
"""With a second machine, which states the same."""


@pytest.fixture(scope="session")
def others(certify: Callable[..., Any]) -> Path:
    """Without proof objects, so that nothing is L4."""
    return certify("others", OTHER, checked=False)[1]  # type: ignore[no-any-return]


def test_what_a_protocol_has_is_certified_with_what_it_rests_on(others: Path, forge: Forge) -> None:
    copy = forge(others)
    value = copy.manifest()
    found = [each for each in value["statements"] if each["rests_on"]]
    assert [(each["kind"], each["subject"], each["name"]) for each in found] == [
        ("link", "post", "at_most_once"),
        ("link", "post", "no_creation"),
    ]
    by_key = {(each["kind"], each["subject"], each["name"]): each for each in value["statements"]}
    for each in found:
        own, link = (by_key[part["kind"], part["subject"], part["name"]] for part in each["rests_on"])
        assert (own["subject"], own["name"], link["subject"]) == ("posts", each["name"], "post to posts")
        assert set(each["obligations"]) == {*own["obligations"], *link["obligations"]}
        assert each["level"] == min(own["level"], link["level"])
        assert each["says"][-2:] == [
            f"by the statement of posts, sha256:{own['id']}",
            f"by the link post to posts, sha256:{link['id']}",
        ]
    assert "post: no_creation**, L3: by machine posts, no_creation (L3) and link post to posts" in copy.text(
        "README.md"
    )
    assert "machine posts and link post to posts" in copy.text("citation.bib")
    assert copy.recheck().confirmed


TWO_LINKS = OTHER + PROVED[PROVED.index("conforms post to posts") :].replace("post to posts", "post to others", 1)
"""By both of which the protocol has the same properties."""


def test_a_property_that_a_protocol_has_by_two_links_is_confirmed_by_the_first(
    certify: Callable[..., Any], forge: Forge
) -> None:
    copy = forge(certify("two_links", TWO_LINKS, checked=False)[1])
    found = {each["name"]: each["rests_on"] for each in copy.manifest()["statements"] if each["rests_on"]}
    assert [found[name][1]["subject"] for name in ("at_most_once", "no_creation")] == ["post to posts"] * 2
    checked = copy.recheck()
    assert checked.confirmed, [each.reasons for each in checked.confirmations]


def _drop_the_link(value: dict[str, Any]) -> None:
    value["statements"].remove(_link(value))


def _drop_the_link_and_say_so(value: dict[str, Any]) -> None:
    link = _link(value)
    value["statements"].remove(link)
    value["omitted"].append({each: link[each] for each in ("kind", "subject", "name")})


def _rest_on_nothing(value: dict[str, Any]) -> None:
    _of_protocol(value)["rests_on"] = []


def _rest_on_the_machine_alone(value: dict[str, Any]) -> None:
    found = _of_protocol(value)
    own = next(each for each in value["statements"] if (each["kind"], each["subject"]) == ("machine", "posts"))
    found["rests_on"], found["obligations"] = found["rests_on"][:1], own["obligations"]


def _leave_the_obligations_of_the_link(value: dict[str, Any]) -> None:
    found, link = _of_protocol(value), _link(value)
    own = {file for each in value["statements"] if each["kind"] == "machine" for file in each["obligations"]}
    found["obligations"] = [file for file in link["obligations"] if file in own]


def _raise_the_level(value: dict[str, Any]) -> None:
    _of_protocol(value)["level"] = "L4"


def _take_another_machine(value: dict[str, Any]) -> None:
    _of_protocol(value)["rests_on"][0]["subject"] = "others"


def _take_the_obligations_of_another_machine(value: dict[str, Any]) -> None:
    found, link = _of_protocol(value), _link(value)
    other = next(each for each in value["statements"] if each["subject"] == "others" and each["name"] == found["name"])
    found["rests_on"][0]["subject"] = "others"
    found["says"] = [line.replace("posts", "others") for line in found["says"]]
    found["obligations"] = list(dict.fromkeys((*other["obligations"], *link["obligations"])))


def _say_it_of_another_property(value: dict[str, Any]) -> None:
    first, second = (each for each in value["statements"] if each["rests_on"])
    first["name"], second["name"] = second["name"], first["name"]


def _take_back_the_limits(value: dict[str, Any]) -> None:
    found = _of_protocol(value)
    found["says"] = found["says"][:1]


@pytest.mark.parametrize(
    "change",
    [
        _drop_the_link,
        _drop_the_link_and_say_so,
        _rest_on_nothing,
        _rest_on_the_machine_alone,
        _leave_the_obligations_of_the_link,
        _raise_the_level,
        _take_another_machine,
        _take_the_obligations_of_another_machine,
        _say_it_of_another_property,
        _take_back_the_limits,
    ],
)
def test_another_chain_is_found_out(
    others: Path, forge: Forge, remembered: Callable[[Path], None], change: Callable[[dict[str, Any]], None]
) -> None:
    remembered(others)
    copy = forge(others)
    copy.sign(change)
    found = copy.recheck()
    assert found.faults and not found.confirmed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  property at_most_once, no_creation\n", "  property at_most_once\n"),
        ("deliver m      is deliver(m)\n", "deliver m      is deliver(m), once\n"),
        ("conforms post to posts", "conforms post to others"),
    ],
)
def test_a_chain_of_another_source_is_found_out(
    others: Path, forge: Forge, remembered: Callable[[Path], None], old: str, new: str
) -> None:
    remembered(others)
    copy = forge(others)
    copy.replace("sources/others.thence", old, new)
    copy.sign()
    found = copy.recheck()
    assert found.faults and not found.confirmed
