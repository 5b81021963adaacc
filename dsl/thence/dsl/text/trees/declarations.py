"""From the reductions of the grammar to syntax trees: declarations. The modules beside it build their parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from thence.dsl.text import syntax
from thence.dsl.text.lines import Word
from thence.dsl.text.syntax import Expect, Formula, Handler, Name, Node
from thence.dsl.text.trees.block import Block, Stated
from thence.dsl.text.trees.body import Children, FormulaBody, NameList, Section, extent, pick, place_of
from thence.dsl.text.trees.mutant import MutantBuilder
from thence.dsl.text.trees.scenario import given_value
from thence.spec.value import record


@record(frozen=True, slots=True)
class Eventually(Node):
    """`eventually delivered under fair receive`."""

    names: tuple[Name, ...]
    fairness: tuple[Name, ...]
    weakly: bool


@record(frozen=True, slots=True)
class Fairness(Node):
    """`under weakly fair receive`."""

    names: tuple[Name, ...]
    weakly: bool


class Builder(MutantBuilder):
    """All the methods: one for each rule of `grammar.lark`."""

    def name_list(self, c: Children) -> NameList:
        return NameList(str(c[0]), c[1], span=extent(c))

    assume = use = prove = needs = delivery = network = properties = claims_to_prove = internal = name_list

    def claims(self, c: Children) -> tuple[Name, ...]:
        return tuple(c[::2])

    def without(self, c: Children) -> Name:
        """`without deadlock`, `without starvation T`: a name of several words."""
        return Name(" ".join(str(part) if isinstance(part, Word) else part.text for part in c), span=extent(c))

    def stated(self, c: Children) -> Stated:
        """`axiom NAME: P`, `property NAME: P`, `invariant: P`."""
        name = c[1] if isinstance(c[1], Name) else Name("", span=place_of(c[0]))
        body: FormulaBody = c[-1]
        span = extent(c)
        return Stated(str(c[0]), Formula(name, body.body, body.doc, span=span), span=span)

    axiom = property = invariant = reachable = stated

    def definition(self, c: Children) -> syntax.Definition:
        body: FormulaBody = c[-1]
        return syntax.Definition(c[1], c[2].items, body.body, doc=body.doc, span=extent(c))

    def stable(self, c: Children) -> Stated:
        """`stable NAME: P`, `stable NAME(m): P`."""
        stated = self.stated(c)
        parameters = next((child.items for child in c if isinstance(child, Section)), ())
        return replace(stated, formula=replace(stated.formula, parameters=parameters))

    def rule(self, c: Children) -> Formula:
        return Formula(c[0], c[2].body, c[2].doc, span=extent(c))

    # --- theories and theorems -----------------------------------------------------------------

    def theory(self, c: Children) -> syntax.Theory:
        block = Block(c)
        return syntax.Theory(
            c[1],
            doc=block.doc,
            sorts=pick(block.items, syntax.SortDecl),
            functions=pick(block.items, syntax.FunctionDecl),
            relations=pick(block.items, syntax.RelationDecl),
            axioms=block.stated("axiom"),
            inductives=pick(block.items, syntax.Inductive),
            properties=block.stated("property"),
            definitions=pick(block.items, syntax.Definition),
            span=extent(c),
        )

    def sort(self, c: Children) -> Section:
        """`ordered` belongs to the name right before it, so a line may declare several kinds."""
        decls: list[syntax.SortDecl] = []
        for decl in c[1::2]:
            last = decls[-1] if decls else None
            if last is not None and not last.ordered and not decl.ordered:
                decls[-1] = syntax.SortDecl(last.names + decl.names, span=extent([last, decl]))
            else:
                decls.append(decl)
        return Section(tuple(decls), span=extent(c))

    def sort_name(self, c: Children) -> syntax.SortDecl:
        return syntax.SortDecl((c[0],), ordered=len(c) == 2, span=extent(c))

    def function(self, c: Children) -> syntax.FunctionDecl:
        return syntax.FunctionDecl((c[1],), c[2].items, c[4], span=extent(c))

    def function_by_types(self, c: Children) -> syntax.FunctionDecl:
        *types, result = c[3::2]
        return syntax.FunctionDecl(c[1], self.unnamed(types), result, span=extent(c))

    def relation(self, c: Children) -> syntax.RelationDecl:
        return syntax.RelationDecl((c[1],), c[2].items, span=extent(c))

    def relation_by_types(self, c: Children) -> syntax.RelationDecl:
        return syntax.RelationDecl(c[1], self.unnamed(c[3::2]), span=extent(c))

    def constant(self, c: Children) -> syntax.RelationDecl | syntax.FunctionDecl:
        """`constant relation link(p: process, q: process)`."""
        declared: syntax.RelationDecl | syntax.FunctionDecl = c[1]
        return replace(declared, constant=True, span=extent(c))

    def unnamed(self, types: Children) -> tuple[syntax.Parameter, ...]:
        return tuple(syntax.Parameter(Name("", span=type_.span), type_, span=type_.span) for type_ in types)

    def inductive(self, c: Children) -> syntax.Inductive:
        block = Block(c)
        self.no_doc(block, c)
        return syntax.Inductive(c[1], c[2].items, pick(block.items, Formula), span=extent(c))

    def theorem(self, c: Children) -> syntax.Theorem:
        block = Block(c)
        return syntax.Theorem(
            c[1],
            c[3],
            block.names("assume"),
            block.names("prove"),
            pick(block.items, syntax.Induction),
            block.names("needs"),
            pick(block.items, Expect),
            lemmas=block.names("use"),
            doc=block.doc,
            span=extent(c),
        )

    def induction(self, c: Children) -> syntax.Induction:
        """One relation on the same line, or several in a block."""
        if parts := pick(c, syntax.InductionOn):
            return syntax.Induction(parts, span=extent(c))
        block = Block(c)
        self.no_doc(block, c)
        return syntax.Induction(pick(block.items, syntax.InductionOn), span=extent(c))

    def on_relation(self, c: Children) -> syntax.InductionOn:
        """The claim on the same line, or claims in a block."""
        if pick(c, Stated):
            claims = tuple(stated.formula for stated in pick(c, Stated))
        else:
            block = Block(c)
            self.no_doc(block, c)
            claims = block.stated("claim")
        return syntax.InductionOn(c[1], c[3], claims, span=extent(c))

    def proved_claim(self, c: Children) -> Stated:
        body: FormulaBody = c[-1]
        if body.doc:
            self.report("E0134", "no documentation string can stand here", body.span, "a claim has none; use `#`")
        return self.stated(c)

    # --- machines ------------------------------------------------------------------------------

    def machine(self, c: Children) -> syntax.Machine:
        block = Block(c)
        return syntax.Machine(
            c[1],
            doc=block.doc,
            relations=pick(block.items, syntax.RelationDecl),
            functions=pick(block.items, syntax.FunctionDecl),
            axioms=block.stated("axiom"),
            transitions=pick(block.items, syntax.Transition),
            invariants=block.stated("invariant"),
            stable=block.stated("stable"),
            reachable=block.stated("reachable"),
            eventually=pick(block.items, syntax.LeadsTo),
            prove=block.names("prove"),
            expects=pick(block.items, Expect),
            delivery=block.names("delivery"),
            definitions=pick(block.items, syntax.Definition),
            sorts=pick(block.items, syntax.SortDecl),
            initial=self.the_initial(block),
            span=extent(c),
        )

    def initial(self, c: Children) -> syntax.Initial:
        body = c[2] if c[2] != (syntax.Pass(),) else ()
        return syntax.Initial(body, span=extent(c))

    def transition(self, c: Children) -> syntax.Transition:
        """A lone `pass` is the empty body: nothing but what is built in."""
        body = c[4] if c[4] != (syntax.Pass(),) else ()
        return syntax.Transition(c[1], c[2].items, body, span=extent(c))

    def leads_to(self, c: Children) -> syntax.LeadsTo:
        """`eventually NAME(m): P leads to Q by: ...`."""
        by = next(i for i, child in enumerate(c) if isinstance(child, Word) and str(child) == "by")
        block = Block(c[by:])
        self.no_doc(block, c)
        parameters = c[2].items if isinstance(c[2], Section) else ()
        formula = Formula(c[1], c[by - 1], parameters=parameters, span=extent(c[:by]))
        return syntax.LeadsTo(formula, pick(block.items, syntax.HelpStep), span=extent(c))

    def help_step(self, c: Children) -> syntax.HelpStep:
        """`T(x) for x while P`."""
        closing = next(i for i, child in enumerate(c) if isinstance(child, Word) and child.type == "RPAR")
        arguments = tuple(child for child in c[1:closing] if not isinstance(child, Word))
        left = c[-1] if str(c[-2]) == "while" else None
        return syntax.HelpStep(c[0], arguments, pick(c, syntax.Parameter), left, span=extent(c))

    # --- protocols -----------------------------------------------------------------------------

    def protocol(self, c: Children) -> syntax.Protocol:
        block = Block(c)
        lines = pick(block.items, Eventually)
        return syntax.Protocol(
            c[1],
            doc=block.doc,
            delivery=block.names("delivery"),
            network=block.names("network"),
            messages=pick(block.items, syntax.MessageKind),
            records=pick(block.items, syntax.RecordDecl),
            state=pick(block.items, syntax.StateVar),
            handlers=pick(block.items, Handler),
            procedures=pick(block.items, syntax.Procedure),
            invariants=block.stated("invariant"),
            reachable=block.stated("reachable"),
            properties=block.names("property"),
            eventually=tuple(name for line in lines for name in line.names),
            fairness=tuple(name for line in lines for name in line.fairness),
            weakly=any(line.weakly for line in lines),
            rest=block.stated("at"),
            promises=pick(block.items, syntax.Promise),
            definitions=pick(block.items, syntax.Definition),
            values=pick(block.items, syntax.NamedValue),
            span=extent(c),
        )

    def named_value(self, c: Children) -> syntax.NamedValue:
        keyword: Any = str(c[0])
        return syntax.NamedValue(keyword, c[1], c[3], given_value(c[5]), span=extent(c))

    def message(self, c: Children) -> syntax.MessageKind:
        parameters = next((child.items for child in c if isinstance(child, Section)), ())
        carries = c[-1] if isinstance(c[-1], Name) and len(c) > 2 else None
        return syntax.MessageKind(c[1], parameters, carries, span=extent(c))

    def eventually(self, c: Children) -> Eventually:
        fair = c[2] if len(c) > 2 else Fairness((), False, span=place_of(c[0]))
        return Eventually(c[1], fair.names, fair.weakly, span=extent(c))

    def fairness(self, c: Children) -> Fairness:
        return Fairness(c[-1], str(c[1]) == "weakly", span=extent(c))

    def at_rest(self, c: Children) -> Stated:
        body: FormulaBody = c[-1]
        span = extent(c)
        return Stated("at", Formula(c[2], body.body, body.doc, span=span), span=span)

    def promise(self, c: Children) -> syntax.Promise:
        first, *more = c[1]
        if more:
            self.report("E0413", "one name stands before the `:`", more[0].span, "write a line for each")
        fair = c[2] if isinstance(c[2], Fairness) else Fairness((), False, span=place_of(c[0]))
        body: FormulaBody = c[-1]
        formula = Formula(first, body.body, body.doc, span=extent(c))
        return syntax.Promise(formula, fair.names, fair.weakly, span=extent(c))

    def record(self, c: Children) -> syntax.RecordDecl:
        block = Block(c)
        self.no_doc(block, c)
        return syntax.RecordDecl(c[1], pick(block.items, syntax.Parameter), span=extent(c))

    def record_field(self, c: Children) -> syntax.Parameter:
        return syntax.Parameter(c[0], c[2], span=extent(c))

    def state(self, c: Children) -> Section:
        block = Block(c)
        self.no_doc(block, c)
        self.bare_lines.add(c[0].line)
        return Section(tuple(block.items), span=extent(c))

    def state_variable(self, c: Children) -> syntax.StateVar:
        return syntax.StateVar(c[0], c[2], c[4] if len(c) > 3 else None, span=extent(c))

    def causal_send_handler(self, c: Children) -> Handler:
        guard = c[4] if len(c) > 5 else None
        return Handler("causal_send", c[2].items, c[-1], guard=guard, span=extent(c))

    def receive_handler(self, c: Children) -> Handler:
        return Handler("receive", c[3].items, c[7], c[2], c[5], span=extent(c))

    def input_handler(self, c: Children) -> Handler:
        guard = c[4] if len(c) > 5 else None
        return Handler("input", c[2].items, c[-1], c[1], guard=guard, span=extent(c))

    def timer_handler(self, c: Children) -> Handler:
        timer = c[1] if isinstance(c[1], Name) else None
        return Handler("periodically", (), c[-1], timer, span=extent(c))

    def procedure(self, c: Children) -> syntax.Procedure:
        return syntax.Procedure(c[1], c[2].items, c[4], span=extent(c))
