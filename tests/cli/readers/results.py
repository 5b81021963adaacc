"""Random results, as commands give them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from thence.spec.verdict import Kind, Level, Result, Verdict

_names = st.text("abcdefghij_", min_size=1, max_size=24)
_subjects = st.sampled_from(["mf", "cykas", "buffers", "thence.impl.hybrid_basic:HybridBasic", "node /srv/a/system.js"])
_scope = {"name": None, "processes": 3, "sends": [2, 1, 0]}
_limits: list[dict[str, Any]] = [
    {},
    {"not_tried": ["loss", "duplication", "early timers"]},
    {"cannot_refute": "no two messages have two destinations in common"},
    {"asks_for_more": "with `request` twice at p1 (the scope says once), `opens` comes"},
    {"set_order": {"handler": "receive", "any_order": "unknown"}},
    {"bound": {"steps": 6}},
    {"unknown": "ended at the limit of 20,000 states, of which 1,204 wait to be expanded"},
]


@st.composite
def results(draw: st.DrawFn) -> Result:
    """A result of any kind, with the facts that its kind has."""
    kind: Kind = draw(
        st.sampled_from(["theorem", "machine", "scope", "link", "mutant", "scenario", "conform", "trace"])
    )
    verdict, subject, name = draw(st.sampled_from(Verdict)), draw(_subjects), draw(_names)
    expected = draw(st.booleans())
    wanted = draw(st.sampled_from([None, verdict if expected else Verdict.REFUTED]))
    facts: dict[str, Any] = {"states": draw(st.integers(0, 10**7)), **draw(st.sampled_from(_limits))}
    if kind in ("scope", "link", "mutant"):
        facts["scope"] = _scope
        name = f"{draw(_names)}: {name}"
    if kind == "mutant":
        mutant = draw(st.sampled_from(["as_printed", "does_not_wait"]))
        if draw(st.booleans()):
            facts["mutant"] = mutant
        else:
            subject = f"{subject}/{mutant}"
    if kind == "conform":
        facts["claimed"] = draw(st.booleans())
        expected = expected or not facts["claimed"]
    if verdict is Verdict.REFUTED:
        facts["counterexample"] = [{}] * draw(st.integers(1, 12))
    explanation = draw(st.sampled_from(["", "  1  p0: causal_send(m0.1) to p2\n  2  p0: causal_send(m0.2) to p1\n"]))
    level = draw(st.sampled_from(Level))
    return Result(name, kind, subject, verdict, level, expected, 0.1, facts, explanation, "", wanted)
