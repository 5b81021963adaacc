"""What Table 1 says, measured; every difference is explained, and every explanation is about a difference."""

from __future__ import annotations

from functools import cache

import pytest

from thence.conformance.costs.claims import CELLS, CLAIMS, EXPLANATIONS
from thence.conformance.costs.measures import Measured, measure
from thence.conformance.implementations import SYSTEMS
from thence.pages.comparison import Compared, compare, liveness_seen, markdown


@cache
def measured(name: str) -> Measured:
    return measure(name, SYSTEMS[name])


def cells(name: str) -> dict[str, Compared]:
    return {one.cell: one for one in compare(measured(name))}


@pytest.mark.long(but=("mf",))
@pytest.mark.parametrize("name", CLAIMS)
def test_each_difference_is_explained_and_each_explanation_needed(name: str) -> None:
    found = cells(name)
    assert list(found) == list(CELLS)
    assert [one for one in found.values() if not one.explained] == []
    differing = {cell for cell, one in found.items() if one.agreement in ("differs", "below")}
    assert differing == {cell for system, cell in EXPLANATIONS if system == name}


@pytest.mark.long
def test_the_sizes_of_the_table() -> None:
    assert measured("rst").growths["message/n"].values == (36, 144, 576)
    assert measured("mf").growths["message/n"].values == (0, 0, 0)
    assert measured("hybrid_basic").growths["message/n"].values == (3, 3, 3)
    assert measured("cykas").growths["process/u over o"].exponent > 1.8
    for parameter in ("i", "o", "b", "p", "u"):
        assert measured("hybrid_optimal").growths[f"process/{parameter}"].shape == f"O({parameter})"


@pytest.mark.long(but=("hybrid_basic",))
@pytest.mark.parametrize("name", ["hybrid_basic", "hybrid_optimal", "hybrid_multicast"])
def test_almeidas_algorithms_take_constant_time(name: str) -> None:
    growths = measured(name).growths
    assert {key: growth.shape for key, growth in growths.items() if key.split("/")[0] in ("sender", "receiver")} == {
        key: "O(1)" for key in growths if key.split("/")[0] in ("sender", "receiver")
    }


def test_throughput() -> None:
    transit = {name: cells(name)["in transit"].measured for name in ("mf", "cykas", "mf_pipelined", "rst")}
    assert transit == {"mf": "1", "cykas": "1/receiver", "mf_pipelined": "to 1 receiver", "rst": "unlimited"}


@pytest.mark.long
def test_liveness() -> None:
    assert measured("synchronous").deadlock and measured("newtop").needs_all and measured("cykas").starves
    assert [name for name in ("mf", "rst", "hybrid_basic") if not measured(name).live] == []
    assert "deadlock" in liveness_seen(measured("synchronous"))
    assert cells("cykas")["non-causal"].measured == "sender unbounded"


def test_fifo_is_not_causal() -> None:
    assert not measured("fifo").causal
    assert measured("rst").causal and measured("mf").causal and measured("client_server").causal


def test_measures_do_not_depend_on_anything() -> None:
    assert measure("cykas", SYSTEMS["cykas"]) == measured("cykas")


def test_a_claim_that_is_not_so_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thence.pages.comparison.CLAIMS", {"rst": CLAIMS["mf"]})
    found = cells("rst")
    assert {cell for cell, one in found.items() if one.agreement == "differs"} >= {
        "message", "process", "receiver", "optimal", "non-causal", "scalable", "in transit", "control",
    }  # fmt: skip
    assert not found["message"].explained


def test_markdown() -> None:
    text = markdown([(measured("mf"), compare(measured("mf"))), (measured("tree"), compare(measured("tree")))])
    assert "| throughput: in transit | 1 | 1 | agrees |" in text
    assert "## tree" in text and "| space: message | O(1) |" in text
