"""What `thence infer` prints of a link can be put back into its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from thence.api.inferring import infer, written
from thence.dsl import ir
from thence.dsl.check.link import link_formulas, names_of_link
from thence.dsl.load import library, load
from thence.dsl.write.show import show_expression
from thence.proofs.infer.links.inference import LinkInference, Said
from thence.proofs.infer.search import inference


def shown(link: ir.Link) -> tuple[Said, ...]:
    """The invariants of a link under other names, as text made from what they mean."""
    return tuple(
        Said(ir.NamedFormula(f"again_{each.name}", each.body), show_expression(each.body, names_of_link(link)))
        for each in link.invariants
    )


@pytest.mark.parametrize("name", [path.stem for path in library()])
def test_what_a_link_says_can_be_read_back_and_written(name: str) -> None:
    """Of every link of the library; fields of packets have the names of the machine's functions in some of them."""
    loaded = load(name)
    assert loaded.specification is not None
    for link in loaded.specification.links:
        again = shown(link)
        texts = [each.text for each in again]
        assert link_formulas(link.protocol, link.machine, texts) == {each.text: each.formula.body for each in again}
        if again:  # `written` raises where the file would not say the same
            text = written(loaded.source.text, str(loaded.path), LinkInference(link, again))
            assert all(each.line.split(": ")[0] in text for each in again)


TURNS = """
machine turns:
  delivery off
  sort node
  constant function first(): node
  relation token(n: node)
  relation works(n: node)
  initial:
    forall n: token(n) := n = first()
  transition start(n: node):
    require token(n)
    works(n) := true
  transition pass_on(n: node, m: node):
    require token(n) and not works(n)
    forall p: token(p) := p = m
  transition stop(n: node):
    works(n) := false
  invariant alone: forall n, m. works(n) and works(m) implies n = m
"""


def test_what_is_proved_survives_an_interrupt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What its conjuncts exclude is not said, and no machine behind it is searched."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(inference, "lost_in_small", interrupt)
    (file := tmp_path / "turns.thence").write_text(TURNS + TURNS.replace("machine turns", "machine others"))
    first, second = infer(str(file))
    assert isinstance(first, inference.Inference) and isinstance(second, inference.Inference)
    assert first.proved and first.interrupted and first.kept is None
    assert first.conjuncts and not any(each.without for each in first.conjuncts)
    assert second.reason == inference.INTERRUPTED and not second.conjuncts
