"""Certificates of delivery of a protocol: it rests on the machine's statement, the link, and what fair runs do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.proofs.machine.steps.test_leads_to import QUEUE, STEPS
from tests.proofs.refinement.test_progress import TEXT

from thence.dsl import ir
from thence.proofs.certificate.ids.link_id import progress_id
from thence.proofs.logic.obligation import Obligation
from thence.proofs.machine.steps import first
from thence.proofs.solving.discharge import Discharge
from thence.proofs.solving.session import ProofSession

Forge = Callable[[Path], Any]


@pytest.fixture(scope="module")
def delivered(certify: Callable[..., Any]) -> Path:
    """Without proof objects, so that nothing is L4."""
    return certify("delivered", TEXT, checked=False)[1]  # type: ignore[no-any-return]


def of_protocol(value: dict[str, Any]) -> Any:
    return next(each for each in value["statements"] if each["name"] == "delivered")


def test_delivery_is_certified_with_what_it_rests_on(delivered: Path, forge: Forge) -> None:
    copy = forge(delivered)
    value = copy.manifest()
    found = of_protocol(value)
    by_key = {(each["kind"], each["subject"], each["name"]): each for each in value["statements"]}
    parts = [by_key[part["kind"], part["subject"], part["name"]] for part in found["rests_on"]]
    assert [(each["subject"], each["name"]) for each in parts] == [
        ("letters", "delivery"),
        ("box to letters", "every event is enabled in letters"),
        ("box to letters", "what delivery waits for happens"),
    ]
    assert set(found["obligations"]) == {file for each in parts for file in each["obligations"]}
    assert found["level"] == min(each["level"] for each in parts)
    assert set(parts[1]["obligations"]) < set(parts[2]["obligations"])  # it presupposes the link
    assert copy.recheck().confirmed


def rest_on_nothing(value: dict[str, Any]) -> None:
    of_protocol(value)["rests_on"] = []


def rest_on_the_link_alone(value: dict[str, Any]) -> None:
    found = of_protocol(value)
    del found["rests_on"][2]


def drop_what_fair_runs_do(value: dict[str, Any]) -> None:
    (gone,) = (each for each in value["statements"] if each["name"] == "what delivery waits for happens")
    value["statements"].remove(gone)
    value["omitted"].append({each: gone[each] for each in ("kind", "subject", "name")})


def leave_out_an_obligation(value: dict[str, Any]) -> None:
    (found,) = (each for each in value["statements"] if each["name"] == "what delivery waits for happens")
    link = next(each for each in value["statements"] if each["name"] == "every event is enabled in letters")
    found["obligations"] = list(link["obligations"])


@pytest.mark.parametrize(
    "change", [rest_on_nothing, rest_on_the_link_alone, drop_what_fair_runs_do, leave_out_an_obligation]
)
def test_another_chain_is_found_out(delivered: Path, forge: Forge, change: Callable[[dict[str, Any]], None]) -> None:
    copy = forge(delivered)
    copy.sign(change)
    found = copy.recheck()
    assert found.faults and not found.confirmed


@pytest.mark.long(but=1, share=5)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("under fair receive", "under fair periodically"),
        ("  eventually delivered under fair receive\n", ""),
        ("  eventually delivered by delivery\n", ""),
        ("  between steps taken_out: forall p: process. box@p is empty\n", ""),
        ("send LETTER(m) to m.dst", "if box is not empty: send LETTER(m) to m.dst"),
        ("sent(m) leads to delivered(m)", "sent(m) and src(m) = dst(m) leads to delivered(m)"),
    ],
)
def test_a_chain_of_another_source_is_found_out(delivered: Path, forge: Forge, old: str, new: str) -> None:
    copy = forge(delivered)
    copy.replace("sources/delivered.thence", old, new)
    copy.sign()
    found = copy.recheck()
    assert found.faults and not found.confirmed


AWAITED = """
  eventually delivery(m): sent(m) leads to delivered(m) by:
    deliver(x) for x while x = m and not delivered(x)
"""

OTHERS_AWAITED = {
    "another condition": ("x = m and not delivered(x)", "x = m"),
    "another step": ("deliver(x) for x while x = m and not delivered(x)", "deliver(m)"),
    "one more step": ("not delivered(x)\n", "not delivered(x)\n    deliver(x) for x while before(x, m)\n"),
}


def test_the_id_says_which_steps_are_waited_for(specify: Callable[[str], ir.Specification]) -> None:
    """What fair runs do is about these steps; that the machine delivers is about their transitions only."""
    begin, end = TEXT.index("  eventually delivery"), TEXT.index("  prove at_most_once")
    text = TEXT[:begin] + AWAITED.lstrip("\n") + TEXT[end:]

    def of(text: str) -> str:
        (link,) = specify(text).links
        return progress_id(link)

    assert all(old in text for old, _ in OTHERS_AWAITED.values())
    others = [of(text.replace(*change)) for change in OTHERS_AWAITED.values()]
    assert len({of(text), *others}) == 1 + len(others)
    assert of(text.replace("for x while x = m and not delivered(x)", "for y while y = m and not delivered(y)").replace(
        "deliver(x)", "deliver(y)")) == of(text)  # fmt: skip


def test_what_a_busy_machine_has_chosen_is_chosen_again(
    certify: Callable[..., Any], forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One order shows that a step is enabled. Where that is not proved in time, the certificate has all orders."""
    easy, proof_within = first.easy, first.proof_within

    def not_by_effort(session: ProofSession, obligations: list[Obligation], effort: int, *little: int) -> list[int]:
        enabled = any(each.name.startswith("a step is enabled") for each in obligations)
        return [] if enabled else easy(session, obligations, effort, *little)

    def too_late(session: ProofSession, claim: Obligation, limit_ms: int) -> tuple[Discharge, ...]:
        in_time = not claim.hypotheses[-1].name.endswith("in hb")
        return proof_within(session, claim, limit_ms) if in_time else ()

    parts = {
        "symbols": "constant function place(m: message): nat",
        "more": "",
        "post": "require true",
        "deliver": "require true",
        "lose": "false",
    }
    text = QUEUE.format(**parts, given="sent(m)", goal="delivered(m)", steps=STEPS)
    monkeypatch.setattr(first, "easy", not_by_effort)
    with monkeypatch.context() as busy:
        busy.setattr(first, "proof_within", too_late)
        written = certify("queue", text, checked=False)[1]
    assert forge(written).recheck().confirmed
    other = certify("queue_again", text, checked=False)[1]
    texts = [{file.read_text() for file in (each / "obligations").iterdir()} for each in (written, other)]
    assert texts[0] != texts[1]
