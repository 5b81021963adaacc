"""Specifications that were judged wrongly or misleadingly once, each with the verdicts that are true of it.

`unknown` stands where the statement holds for nothing, or is true and not decided. Every other verdict is the truth: it
was worked out by hand, and for machines small enough by brute force.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from thence.dsl.load import load_bytes
from thence.proofs.prove import proofs_by
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.solver import SolverPool

HERE = Path(__file__).parent

REFUSED = {
    "c1": {"E0642"},  # `ready` is never set
    "c2": {"E0642"},
    "const": {"E0642"},
    "param": {"E0642"},
    "h1": {"E0640"},
    "h2": {"E0640"},
    "h3": {"E0640"},
    "sort": {"E0642"},  # nobody is ever a member
}
"""Files with errors, and the codes of the errors."""

FINE = {"history": "proved", "vacuity": "proved"}
NOTHING = {"history": "unknown", "vacuity": "unknown"}
"""A machine for which everything holds for nothing."""

JUDGED: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "absurd": {"simple": {**FINE, "absurd": "refuted"}},
    "c1_constant": {"dead": {**FINE, "csps_like": "proved", "causal": "refuted", "fifo": "refuted"}},
    "c2_constant": {"dead": {**FINE, "idle": "refuted", "causal": "refuted", "fifo": "refuted"}},
    "const_constant": {"overlay": {**FINE, "nothing_is_ever_sent": "refuted", "no_links": "refuted"}},
    "param_constant": {
        "parameters": {**FINE, "nobody_trusted": "refuted", "no_room": "refuted", "total_order": "proved"}
    },
    "early": {"ex": {"early_is_causal": "unknown"}},
    "given": {"given": {**FINE, "one_source": "refuted"}},
    "init": {"init": {**FINE, "something": "refuted", "nothing_yet": "proved"}},
    "r1": {"simple": {**FINE, "got": "proved"}},
    "names": {
        machine: {**FINE, **dict.fromkeys(("causal", "fifo", "at_most_once", "no_creation"), "proved")}
        for machine in ("n1", "n2", "n3")
    },
    "count_min": {"window": {**FINE, "was_sent": "proved", "bounded": "unknown"}},  # true; the counts are of two sets
    "count_min2": {"window": {**FINE, "was_sent": "proved", "bounded": "proved"}},
    "acked_count2": {
        "one_under_way": {
            **FINE,
            **dict.fromkeys(
                (
                    "stages", "posted_sent", "queued_sent", "network", "acked_delivered", "delivered_posted", "one",
                    "past_delivered", "hb_delivered", "bounded", "causal", "fifo", "csps", "at_most_once",
                    "no_creation", "without deadlock",
                ),
                "proved",
            ),
            "does_not_wait: causal": "refuted",
        }
    },
    "m2": {
        "stables": {
            **FINE,
            **dict.fromkeys(
                (
                    "busy_for_ever", "never_before", "all_delivered", "at_most_two", "delivered_unsent",
                    "before_circle", "more",
                ),
                "refuted",
            ),
        },
        # Nothing says that only sent messages are network-sent, so the history is not shown to be kept.
        "starving": {
            "history": "unknown", "vacuity": "proved",
            "without starvation network_send": "refuted", "without deadlock": "refuted",
        },
        "blocked_by_later": {**FINE, "without deadlock": "refuted", "without starvation deliver": "refuted"},
        "self_stuck": {**FINE, "without deadlock": "refuted"},
        "loses": {**FINE, "no_creation": "proved", "at_most_once": "proved", "without deadlock": "refuted"},
        "twice": {**FINE, "ns": "proved", "at_most_once": "refuted"},
        "creates": {"history": "unknown", "vacuity": "proved", "no_creation": "refuted"},
        "csps_wrong": {**FINE, "life": "proved", "sps": "refuted", "csps": "refuted"},
        "sps_not_csps": {
            **FINE, "life": "proved", "sps": "proved", "csps": "refuted", "causal": "refuted", "fifo": "refuted",
        },
    },
    "m4": {
        "contradictory_axioms": {**NOTHING, "causal": "unknown", "at_most_once": "unknown"},
        "infinite_axioms": {**NOTHING, "causal": "unknown", "at_most_once": "unknown"},
        "only_nobody": {
            "history": "unknown", "vacuity": "refuted", "causal": "unknown", "at_most_once": "unknown",
        },
        "once_only": {**NOTHING, "one": "unknown", "us": "unknown", "causal": "unknown", "fifo": "unknown"},
        "token": {**FINE, "exclusive": "refuted", "has_inside": "proved"},
    },
    "nat": {
        "nats": {
            **FINE,
            **dict.fromkeys(("t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"), "proved"),
            **dict.fromkeys(("f1", "f2", "f3", "f5"), "refuted"),
            "f4": "unknown",  # false at the fourth send, which uses 9: beyond the numbers that are searched
            "f6": "unknown",  # false, and no finite structure decides it
        }
    },
    "nat2": {
        "nats": {
            **FINE,
            **dict.fromkeys(("t1", "t2", "t3", "t4", "t5", "t6", "t8"), "proved"),
            **dict.fromkeys(("f1", "f2", "f3", "f5"), "refuted"),
            "f4": "unknown",
        }
    },
}  # fmt: skip
"""By file and subject the verdict on each statement."""

QUICK = ("absurd", "given", "init", "early", "const_constant")


def test_every_file_is_judged() -> None:
    assert {path.stem for path in HERE.glob("*.thence")} == {*REFUSED, *JUDGED}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_with_errors_is_refused(name: str) -> None:
    loaded = load_bytes(Path(name), (HERE / f"{name}.thence").read_bytes())
    assert loaded.specification is None
    assert {each.code for each in loaded.diagnostics if each.severity == "error"} == REFUSED[name]


@pytest.mark.long(but=QUICK)
@pytest.mark.parametrize("name", JUDGED)
def test_verdicts(name: str, pool: SolverPool) -> None:
    specification = load_bytes(Path(name), (HERE / f"{name}.thence").read_bytes()).specification
    assert specification is not None
    found: dict[str, dict[str, str]] = {}
    for proof in proofs_by(pool, specification, (), Options()):
        found.setdefault(proof.result.subject, {})[proof.result.name] = proof.result.verdict.value
    assert found == JUDGED[name]
