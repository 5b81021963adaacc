"""Certificates of a protocol's invariants: each rests on its link, and on the obligation that it follows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.proofs.refinement.test_invariants_follow import TEXT

from thence.dsl import ir
from thence.dsl.ir.observability import own_invariants
from thence.proofs.certificate.ids.link_id import invariant_id

Forge = Callable[[Path], Any]


@pytest.fixture(scope="module")
def shown(certify: Callable[..., Any]) -> Path:
    """Without proof objects, so that nothing is L4."""
    return certify("permits", TEXT, "permit to permits", checked=False)[1]  # type: ignore[no-any-return]


def named(value: dict[str, Any], name: str) -> Any:
    return next(each for each in value["statements"] if each["name"] == name)


def test_it_is_certified_with_what_it_rests_on(shown: Path, forge: Forge) -> None:
    copy = forge(shown)
    value = copy.manifest()
    found = named(value, "one_permit")
    assert [(each["kind"], each["subject"], each["name"]) for each in found["rests_on"]] == [
        ("link", "permit to permits", "every event is enabled in permits"),
        ("link", "permit to permits", "one_permit follows from it"),
    ]
    link, own = (named(value, each["name"]) for each in found["rests_on"])
    assert len(set(own["obligations"]) - set(link["obligations"])) == 1
    assert found["says"][0].endswith("one_permit: forall p, q. holds@p and holds@q implies p = q")
    assert copy.recheck().confirmed


def drop_what_follows(value: dict[str, Any]) -> None:
    gone = named(value, "one_permit follows from it")
    value["statements"].remove(gone)
    value["omitted"].append({each: gone[each] for each in ("kind", "subject", "name")})


def leave_out_its_obligation(value: dict[str, Any]) -> None:
    for name in ("one_permit", "one_permit follows from it"):
        named(value, name)["obligations"] = list(named(value, "every event is enabled in permits")["obligations"])


def take_the_other_for_it(value: dict[str, Any]) -> None:
    for kind in ("{}", "{} follows from it"):
        one, other = (named(value, kind.format(name)) for name in ("one_permit", "counted"))
        one["obligations"], one["says"], one["id"] = other["obligations"], other["says"], other["id"]


@pytest.mark.parametrize("change", [drop_what_follows, leave_out_its_obligation, take_the_other_for_it])
def test_another_chain_is_found_out(shown: Path, forge: Forge, change: Callable[[dict[str, Any]], None]) -> None:
    copy = forge(shown)
    copy.sign(change)
    found = copy.recheck()
    assert found.faults and not found.confirmed


def test_the_id_is_of_what_the_invariant_says(specify: Callable[[str], ir.Specification]) -> None:
    def ids(text: str) -> dict[str, str]:
        (link,) = specify(text).links
        return {name: invariant_id(link, each) for name, each in own_invariants(link.protocol).items()}

    first, other = ids(TEXT), ids(TEXT.replace("asked@p implies not holds@p", "holds@p implies not asked@p"))
    assert first["one_permit"] == other["one_permit"]
    assert first["counted"] != other["counted"]
    assert len(set(first.values())) == 2
