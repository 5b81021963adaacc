"""One proof of an obligation: the proof of what follows from its instances, and the rules for quantifiers.

In the proof from instances each lemma is an assumption. It becomes a derivation of the lemma from a rule, and the
names of quantified formulas and of chosen terms become abbreviations of what they stand for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from thence.proofs.certificate.forms.expressions import Tree, lists, trees, words, written
from thence.proofs.certificate.instances.ground import Lemma, Term, frozen, text_of
from thence.proofs.certificate.instances.search import Instances


def composed(instances: Instances, proof: str) -> str | None:
    """The proof of the obligation from a proof of `instances.problem`; None where the proof has another form."""
    try:
        first, *tokens = words(proof)
        (tree,) = trees(tokens)
        if first != "unsat":
            return None
        abbreviations = _abbreviations(tree)
        derived = {lemma.formula: words(text_of(_derivation(lemma))) for lemma in instances.lemmas}
        known: dict[str, Term] = {}
        inside = list(_put(tree, abbreviations, derived, known))
        own = instances.ground.defined
        needed = _needed(own, inside)
    except (ValueError, IndexError, RecursionError):
        return None
    before: list[str] = []
    for name in needed:
        before += ["(", "let", "(", "(", f".{name}", *_dotted(words(text_of(own[name])), own), ")", ")"]
    return f"unsat\n{written([*before, *_dotted(inside, own), *(')' for _ in needed)])}\n"


def _dotted(tokens: list[str], own: Mapping[str, Term]) -> list[str]:
    """The tokens with a dot before each name that is none of the obligation's."""
    return [f".{token}" if token in own else token for token in tokens]


def _needed(own: Mapping[str, Term], tokens: list[str]) -> list[str]:
    """The names that tokens use, and those that these use, in the order of their definitions."""
    used = set(tokens)
    for name in reversed(list(own)):
        if name in used:
            used.update(words(text_of(own[name])))
    return [name for name in own if name in used]


def _abbreviations(proof: Tree) -> dict[str, Tree]:
    """What each name is that the proof abbreviates something by. Raises: ValueError for a name with two meanings."""
    found: dict[str, Tree] = {}
    for tree in lists([proof]):
        match tree:
            case ["let", [*binders], _]:
                for binder in binders:
                    match binder:
                        case [str(name), meaning] if found.setdefault(name, meaning) is meaning:
                            pass
                        case _:
                            raise ValueError("a name has two meanings")
    return found


def _put(
    proof: Tree, abbreviations: Mapping[str, Tree], derived: Mapping[Term, list[str]], known: dict[str, Term]
) -> Iterator[str]:
    """The tokens of the proof, with the derivation of each lemma where it is assumed."""
    waiting: list[Tree] = [proof]
    while waiting:
        tree = waiting.pop()
        if isinstance(tree, str):
            yield tree
            continue
        if tree[:1] == ["assume"]:
            derivation = derived.get(_expanded(frozen(tree[1]), abbreviations, known))
            if derivation is not None:
                yield from derivation
                continue
        yield "("
        waiting.append(")")
        waiting.extend(reversed(tree))


def _expanded(term: Term, abbreviations: Mapping[str, Tree], known: dict[str, Term]) -> Term:
    """The term without abbreviations."""
    if isinstance(term, tuple):
        if term[0] == "let":
            return _expanded(term[2], abbreviations, known)
        return tuple(_expanded(part, abbreviations, known) for part in term)
    if term not in abbreviations:
        return term
    if term not in known:
        known[term] = _expanded(frozen(abbreviations[term]), abbreviations, known)
    return known[term]


def _derivation(lemma: Lemma) -> Term:
    """A proof of the lemma's formula from the rule for its quantifier."""
    name, body, formula = lemma.quantified.name, lemma.body, lemma.formula
    sign = "-" if lemma.implies else "+"
    kind = lemma.quantified.kind
    rule: Term = (kind + sign, name) if lemma.values is None else (kind + sign, lemma.values, name)
    if lemma.implies:
        if lemma.pattern is not None:
            told: Term = ("!", body, ":pattern", lemma.pattern)
            same: Term = ("=", told, body)
            rule = ("res", told, rule, ("res", same, ("del!", told), ("=-2", same)))
        unless: Term = ("not", name)
        return "res", name, ("res", unless, ("not+", unless), ("or+", "0", formula)), (
            "res", body, rule, ("or+", "1", formula),
        )  # fmt: skip
    failing: Term = ("not", body)
    return "res", body, ("res", failing, ("not+", failing), ("or+", "1", formula)), (
        "res", name, rule, ("or+", "0", formula),
    )  # fmt: skip
