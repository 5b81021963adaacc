"""Certificates of links that are proved for any number of processes: written, rechecked, and not to be forged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.proofs.refinement.post import POST

from thence.dsl import ir
from thence.proofs.certificate.ids.link_id import link_id
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
    "a clause": (
        "deliver(m)\n  invariant on",
        "deliver(m)\n  receive LETTER(m) from j is deliver(m), once\n  invariant on",
    ),
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


@pytest.fixture(scope="session")
def post(certify: Callable[..., Any]) -> Path:
    return certify("post", PROVED)[1]  # type: ignore[no-any-return]


def test_a_link_is_certified_and_confirmed(post: Path, forge: Forge) -> None:
    copy = forge(post)
    (link,) = (each for each in copy.manifest()["statements"] if each["kind"] == "link")
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
        ("  expect proved\n", ""),
    ],
)
def test_another_source_is_found_out(post: Path, forge: Forge, old: str, new: str) -> None:
    copy = forge(post)
    copy.replace("sources/post.thence", old, new)
    copy.sign()
    assert not copy.recheck().confirmed


def test_a_link_cannot_be_certified_with_fewer_obligations(post: Path, forge: Forge) -> None:
    """The obligation that is left out is still one of another statement's, so that the files are all used."""
    copy = forge(post)

    def fewer(value: dict[str, Any]) -> None:
        machines = {file for each in value["statements"] if each["kind"] == "machine" for file in each["obligations"]}
        (link,) = (each for each in value["statements"] if each["kind"] == "link")
        shared = next(file for file in link["obligations"] if file in machines)
        link["obligations"].remove(shared)

    copy.sign(fewer)
    found = copy.recheck()
    assert found.faults and not found.confirmed


def test_a_link_is_not_refuted_by_a_certificate(post: Path, forge: Forge) -> None:
    copy = forge(post)

    def refuted(value: dict[str, Any]) -> None:
        (link,) = (each for each in value["statements"] if each["kind"] == "link")
        link["verdict"] = Verdict.REFUTED.value

    copy.sign(refuted)
    assert not copy.recheck().confirmed
