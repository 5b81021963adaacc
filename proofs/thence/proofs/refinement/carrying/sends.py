"""What a handler sends at once, before it changes anything: the state in which it begins says what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from thence.dsl import ir
from thence.dsl.ir.traversal import nodes
from thence.proofs.logic.formula import conj, exists, negation
from thence.proofs.refinement.expressions import Evaluation
from thence.proofs.refinement.shapes.flat import is_bag, locals_of, variables
from thence.proofs.refinement.shapes.kinds import Leaf, Shape, Term

_SENDS_ONLY = (ir.Let, ir.If, ir.For, ir.Send)
"""Statements of which loops may consist: such a loop comes to each element, and leaves the state as it is."""


@dataclass(frozen=True, slots=True)
class SentAtOnce:
    """A packet that a handler sends.

    Attributes:
        statement: where it is sent.
        among: what loops choose: the packet is sent for all values of which `given` is true.
        given: the conditions under which it is sent.
        said: what the packet says: its parameters, its sender and its receiver.
    """

    statement: ir.Send
    among: tuple[ir.Variable, ...]
    given: tuple[Term, ...]
    said: tuple[Shape, ...]

    def is_sent(self, condition: Term) -> Term:
        """That such a packet is sent of which the condition is true; its values may be those that loops choose."""
        return exists(self.among, conj((*self.given, condition)))


@dataclass(frozen=True, slots=True)
class _Path:
    """A way through a handler on which nothing is changed."""

    locals: Mapping[str, Shape]
    among: tuple[ir.Variable, ...] = ()
    given: tuple[Term, ...] = ()

    def where(self, *given: Term) -> _Path:
        return replace(self, given=(*self.given, *given))

    def naming(self, name: str, shape: Shape) -> _Path:
        return replace(self, locals={**self.locals, name: shape})


def sent_at_once(evaluation: Evaluation, body: Sequence[ir.Stmt]) -> tuple[SentAtOnce, ...]:
    """What a handler sends before it changes anything, if its process is `evaluation.own`. Raises: Unsupported."""
    walk = _Walk(evaluation)
    walk.through(body, _Path(evaluation.locals))
    return tuple(walk.found)


@dataclass(slots=True)
class _Walk:
    evaluation: Evaluation
    found: list[SentAtOnce] = field(default_factory=list)

    def through(self, body: Sequence[ir.Stmt], start: _Path) -> list[_Path]:
        """The paths on which the end of the body is reached and nothing was changed. What is behind a change, a call or
        a `while` is not looked at."""
        paths = [start]
        for statement in body:
            paths = [following for path in paths for following in self._after(statement, path)]
        return paths

    def _after(self, statement: ir.Stmt, path: _Path) -> list[_Path]:
        value = self.evaluation.value
        match statement:
            case ir.Let(name=name, value=bound):
                found = value(bound, path.locals)
                return [path.where(found.defined).naming(name, found.shape)]
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                test = value(condition, path.locals)
                if_true = self.through(then, path.where(test.defined, test.term))
                if_false = self.through(otherwise, path.where(test.defined, negation(test.term)))
                return [replace(each, locals=path.locals) for each in (*if_true, *if_false)]
            case ir.For() if _only_sends(statement):
                return [path.where(there) for there in self._each(statement, path)]
            case ir.Send(arguments=arguments, to=to):
                *given, receiver = (value(each, path.locals) for each in (*arguments, to))
                defined = (*(each.defined for each in given), receiver.defined)
                said = (*(each.shape for each in given), Leaf(self.evaluation.own), receiver.shape)
                self.found.append(SentAtOnce(statement, path.among, (*path.given, *defined), said))
                return [path.where(*defined)]
            case _:
                return []

    def _each(self, loop: ir.For, path: _Path) -> Iterator[Term]:
        """Looks at all rounds of a loop, and says where the loop has a value to run over."""
        groups, there = self.evaluation.groups(ir.Bound(loop.variable, loop.name, loop.domain), path.locals)
        for group in groups:
            chosen = variables(group.types, self.evaluation.name)
            condition, item = group.item(locals_of(chosen))
            inside = replace(path.where(there, condition).naming(loop.name, item), among=(*path.among, *chosen))
            self.through(loop.body, inside)
        yield there


def _only_sends(loop: ir.For) -> bool:
    inner = [node for node in nodes(loop.body) if isinstance(node, ir.Statement)]
    over_a_bag = loop.domain is not None and is_bag(loop.domain.type)
    return not loop.ref and not over_a_bag and all(isinstance(node, _SENDS_ONLY) for node in inner)
