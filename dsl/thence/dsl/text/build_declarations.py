"""From the reductions of the grammar to syntax trees: declarations. `build_body.py` builds their parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from thence.dsl.text import syntax
from thence.dsl.text.build_body import Children, Doc, FormulaBody, NameList, Section, extent, pick, place_of
from thence.dsl.text.build_scenario import ScenarioBuilder, given_value
from thence.dsl.text.lines import Word
from thence.dsl.text.programs import setting_key
from thence.dsl.text.syntax import Cast, Clause, Expect, Formula, Handler, Name, Node, Setting
from thence.spec.value import record


@record(frozen=True, slots=True)
class Stated(Node):
    """An axiom, a property or an invariant on its way to its declaration."""

    keyword: str
    formula: Formula


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


@record(frozen=True, slots=True)
class Edge(Node):
    """`0 to 1, 2` of `destinations`."""

    source: int
    targets: tuple[int, ...]


@record(frozen=True, slots=True)
class Links(Node):
    """`0 to 1, 2` of `links`, or `0 with 1, 2`: both directions."""

    source: int
    targets: tuple[int, ...]
    mutual: bool


@record(frozen=True, slots=True)
class Step(Node):
    """A step of a program."""

    step: syntax.ProgramStep


@record(frozen=True, slots=True)
class Once(Node):
    """The `, once` of a clause."""


@record(frozen=True, slots=True)
class When(Node):
    """The `, when P` of a clause."""

    condition: syntax.Expr


class _Items:
    """The items of a declaration's block, and its documentation string."""

    def __init__(self, children: Children) -> None:
        colon = next(i for i, child in enumerate(children) if isinstance(child, Word) and child.type == "COLON")
        self.items: list[Any] = []
        self.doc = ""
        for child in children[colon + 1 :]:
            if isinstance(child, Section):
                self.items += child.items
            elif isinstance(child, Doc):
                self.doc = child.text
            elif not isinstance(child, Word):
                self.items.append(child)

    def stated(self, keyword: str) -> tuple[Formula, ...]:
        return tuple(item.formula for item in pick(self.items, Stated) if item.keyword == keyword)

    def names(self, keyword: str) -> tuple[Name, ...]:
        return tuple(name for item in pick(self.items, NameList) if item.keyword == keyword for name in item.names)


class Builder(ScenarioBuilder):
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
        block = _Items(c)
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
        block = _Items(c)
        self.no_doc(block, c)
        return syntax.Inductive(c[1], c[2].items, pick(block.items, Formula), span=extent(c))

    def theorem(self, c: Children) -> syntax.Theorem:
        block = _Items(c)
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
        """The claim on the same line, or claims in a block."""
        if pick(c, Stated):
            claims = tuple(stated.formula for stated in pick(c, Stated))
        else:
            block = _Items(c)
            self.no_doc(block, c)
            claims = block.stated("claim")
        return syntax.Induction(c[3], c[5], claims, span=extent(c))

    def proved_claim(self, c: Children) -> Stated:
        body: FormulaBody = c[-1]
        if body.doc:
            self.report("E0134", "no documentation string can stand here", body.span, "a claim has none; use `#`")
        return self.stated(c)

    def no_doc(self, block: _Items, c: Children) -> None:
        if block.doc:
            note = "it follows the first line of a top-level declaration or formula; here, use `#`"
            self.report("E0134", "no documentation string can stand here", pick(c, Doc)[0].span, note)

    # --- machines ------------------------------------------------------------------------------

    def machine(self, c: Children) -> syntax.Machine:
        block = _Items(c)
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

    def the_initial(self, block: _Items) -> syntax.Initial | None:
        first, *others = pick(block.items, syntax.Initial) or (None,)
        for extra in others:
            self.report("E0130", "a second `initial`", extra.span, "a machine has at most one")
        return first

    def transition(self, c: Children) -> syntax.Transition:
        """A lone `pass` is the empty body: nothing but what is built in."""
        body = c[4] if c[4] != (syntax.Pass(),) else ()
        return syntax.Transition(c[1], c[2].items, body, span=extent(c))

    def leads_to(self, c: Children) -> syntax.LeadsTo:
        """`eventually NAME(m): P leads to Q by: ...`."""
        by = next(i for i, child in enumerate(c) if isinstance(child, Word) and str(child) == "by")
        block = _Items(c[by:])
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
        block = _Items(c)
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
        block = _Items(c)
        self.no_doc(block, c)
        return syntax.RecordDecl(c[1], pick(block.items, syntax.Parameter), span=extent(c))

    def record_field(self, c: Children) -> syntax.Parameter:
        return syntax.Parameter(c[0], c[2], span=extent(c))

    def state(self, c: Children) -> Section:
        block = _Items(c)
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

    # --- scopes and expectations ---------------------------------------------------------------

    def scope(self, c: Children) -> syntax.Scope:
        block = _Items(c)
        settings = self.settings(block.items)
        return syntax.Scope(c[1], c[3], settings, pick(block.items, Expect), doc=block.doc, span=extent(c))

    def settings(self, items: list[Any]) -> tuple[Setting, ...]:
        settings = pick(items, Setting)
        seen: dict[str, Setting] = {}
        for setting in settings:
            words = setting_key(setting).replace("_", " ")
            first = seen.setdefault(words, setting)
            if first is not setting:
                self.report("E0130", f"`{words}` is set twice", setting.span, f"first on line {first.span.line}")
        return settings

    def number_setting(self, c: Children) -> Setting:
        name: Any = str(c[0])
        return Setting(name, (int(c[1]),), span=extent(c))

    def ticks_setting(self, c: Children) -> Setting:
        names = (c[1],) if isinstance(c[1], Name) else ()
        return Setting("ticks", (int(c[-1]),), about=names[0].text if names else "", names=names, span=extent(c))

    def sends_setting(self, c: Children) -> Setting:
        return Setting("sends", self.for_each_process(c), span=extent(c))

    def input_setting(self, c: Children) -> Setting:
        return Setting("input", self.for_each_process(c[1:]), about=c[0].text, names=(c[0],), span=extent(c))

    def values_setting(self, c: Children) -> Setting:
        values = tuple(int(word) for word in c[3:] if word.type == "NUMBER")
        return Setting("values", values, about=f"{c[0].text} {c[1].text}", names=(c[0], c[1]), span=extent(c))

    def given_setting(self, c: Children) -> Setting:
        return Setting("given", (given_value(c[2]),), about=c[0].text, names=(c[0],), span=extent(c))

    def for_each_process(self, c: Children) -> tuple[int, ...]:
        """The numbers of `2 per process`, or those of all processes."""
        values = tuple(int(word) for word in c if word.type == "NUMBER")
        if c[-1].type == "PROCESS" and len(values) > 1:
            self.report(
                "E0120",
                "`per process` follows several numbers",
                extent(c),
                "either one number `per process` or a number for each process",
            )
        return values

    def self_sends_setting(self, c: Children) -> Setting:
        return Setting("self_sends", span=extent(c))

    def prompt_sends_setting(self, c: Children) -> Setting:
        return Setting("prompt_sends", span=extent(c))

    def any_number_setting(self, c: Children) -> Setting:
        return Setting("any_number", span=extent(c))

    def reactive_sends_setting(self, c: Children) -> Setting:
        return Setting("reactive_sends", span=extent(c))

    def fifo_setting(self, c: Children) -> Setting:
        return Setting("fifo", span=extent(c))

    def tree_setting(self, c: Children) -> Setting:
        edges = tuple((edge.source, edge.targets) for edge in pick(c, Edge))
        return Setting("tree", (), edges, span=extent(c))

    def links_setting(self, c: Children) -> Setting:
        found = pick(c, Links)
        edges = tuple((each.source, each.targets) for each in found)
        return Setting("links", (), edges, mutual=tuple(each.mutual for each in found), span=extent(c))

    def links(self, c: Children) -> Links:
        source, *targets = (int(word) for word in c if word.type == "NUMBER")
        return Links(source, tuple(targets), str(c[1]) == "with", span=extent(c))

    def program_setting(self, c: Children) -> Setting:
        steps = tuple(step.step for step in pick(c, Step))
        return Setting("program", (int(c[1]),), steps=steps, span=extent(c))

    def program_step(self, c: Children) -> Step:
        verb: Any = str(c[0])
        return Step((verb, tuple(int(word) for word in c if word.type == "NUMBER")), span=extent(c))

    def for_ever_setting(self, c: Children) -> Setting:
        return Setting("for_ever", tuple(int(word) for word in c if word.type == "NUMBER"), span=extent(c))

    def destinations_setting(self, c: Children) -> Setting:
        edges = tuple((edge.source, edge.targets) for edge in pick(c, Edge))
        return Setting("destinations", (), edges, span=extent(c))

    def edge(self, c: Children) -> Edge:
        source, *targets = (int(word) for word in c if word.type == "NUMBER")
        return Edge(source, tuple(targets), span=extent(c))

    def expect(self, c: Children) -> Expect:
        verdict: Any = str(c[1])
        names = next((child for child in c if isinstance(child, tuple)), ())
        scope = next((child for child in c[2:] if isinstance(child, Name)), None)
        return Expect(verdict, names, scope, self.settings(c), span=extent(c))

    # --- links and mutants ---------------------------------------------------------------------

    def conforms(self, c: Children) -> syntax.Conforms:
        block = _Items(c)
        protocol, machine = c[1], c[3]
        scopes = c[5] if isinstance(c[5], tuple) else ()
        name = Name(f"{protocol.text} to {machine.text}", span=extent([protocol, machine]))
        return syntax.Conforms(
            name,
            protocol,
            machine,
            pick(block.items, Clause),
            scopes,
            pick(block.items, Expect),
            block.names("internal"),
            block.stated("invariant"),
            block.stated("between"),
            block.names("delivered"),
            doc=block.doc,
            span=extent(c),
        )

    def between_steps(self, c: Children) -> Stated:
        body: FormulaBody = c[-1]
        span = extent(c)
        return Stated("between", Formula(c[2], body.body, body.doc, span=span), span=span)

    def delivered_by(self, c: Children) -> NameList:
        """`eventually delivered by NAME`."""
        if c[1].text != "delivered":
            self.report("E0413", f"a link carries `delivered`, and not `{c[1].text}`", c[1].span, "write `delivered`")
        return NameList("delivered", (c[-1],), span=extent(c))

    def message_clause(self, c: Children) -> Clause:
        """`causal_send(m) is t(m)`, `deliver m is t(m)`."""
        event: Any = str(c[0])
        parameter = next(child for child in c if isinstance(child, Name))
        return replace(self.right_side(c), event=event, parameters=(parameter,))

    def packet_clause(self, c: Children) -> Clause:
        """`send KIND(m, ...) to j is t(m), once`, `receive KIND(n) from j is t(n)`."""
        event: Any = str(c[0])
        pattern = c[: self.verb(c)]
        kind, *parameters, peer = pick(pattern, Name)
        rest = any(isinstance(child, Word) and child.type == "ELLIPSIS" for child in pattern)
        return replace(self.right_side(c), event=event, kind=kind, parameters=tuple(parameters), peer=peer, rest=rest)

    def input_clause(self, c: Children) -> Clause:
        """`request(k) is t(self, k)`."""
        kind, *parameters = pick(c[: self.verb(c)], Name)
        return replace(self.right_side(c), event="input", kind=kind, parameters=tuple(parameters))

    def timer_clause(self, c: Children) -> Clause:
        """`periodically is t(self)`, `periodically retransmit is t(self)`."""
        timer = c[1] if isinstance(c[1], Name) else None
        return replace(self.right_side(c), event="periodically", kind=timer)

    def verb(self, c: Children) -> int:
        """The place of the `is` of a clause."""
        return next(index for index, child in enumerate(c) if isinstance(child, Word) and child.type == "IS")

    def right_side(self, c: Children) -> Clause:
        """A clause of which the event is still to be filled in."""
        rest = c[self.verb(c) + 1 :]
        once = any(isinstance(child, Once) for child in rest)
        when = next((child.condition for child in rest if isinstance(child, When)), None)
        return Clause("deliver", None, (), None, pick(rest, syntax.Target), once, when=when, span=extent(c))

    def target(self, c: Children) -> syntax.Target:
        transition, *arguments = (child for child in c if not isinstance(child, Word))
        return syntax.Target(transition, tuple(arguments), span=extent(c))

    def any_that_enables(self, c: Children) -> syntax.AnyThatEnables:
        return syntax.AnyThatEnables(span=extent(c))

    def once(self, c: Children) -> Once:
        return Once(span=extent(c))

    def when(self, c: Children) -> When:
        return When(c[-1], span=extent(c))

    def mutant(self, c: Children) -> syntax.Mutant:
        block = _Items(c)
        return syntax.Mutant(
            c[1],
            c[3],
            state=pick(block.items, syntax.StateVar),
            handlers=pick(block.items, Handler),
            procedures=pick(block.items, syntax.Procedure),
            transitions=pick(block.items, syntax.Transition),
            invariants=block.stated("invariant"),
            stable=block.stated("stable"),
            reachable=block.stated("reachable"),
            rest=block.stated("at"),
            promises=pick(block.items, syntax.Promise),
            network=block.names("network"),
            expects=pick(block.items, Expect),
            definitions=pick(block.items, syntax.Definition),
            values=pick(block.items, syntax.NamedValue),
            changes=pick(block.items, syntax.Change),
            initial=self.the_initial(block),
            doc=block.doc,
            span=extent(c),
        )

    def change(self, c: Children) -> syntax.Change:
        """`change on receive KIND: EDITS`."""
        colon = next(at for at, child in enumerate(c) if isinstance(child, Word) and child.type == "COLON")
        words, names = [str(word) for word in c[1:colon] if isinstance(word, Word)], pick(c[1:colon], Name)
        event: Any = "input" if words == ["on"] else words[-1]
        return syntax.Change(event, names[0] if names else None, pick(c, syntax.Edit), span=extent(c))

    def header(self, c: Children) -> syntax.Stmt:
        """The header of a statement, as one with an empty body."""
        match str(c[0]):
            case "if":
                return syntax.If(c[1], (), span=extent(c))
            case "while":
                return syntax.While(c[1], (), span=extent(c))
            case "choose":
                return syntax.Choose(c[1], c[3], c[6] if len(c) > 4 else None, (), span=extent(c))
            case _:
                ref = isinstance(c[1], Word)
                return syntax.For(c[1 + ref], c[3 + ref], (), ref, span=extent(c))

    def edit(self, c: Children) -> syntax.Edit:
        """`replace S by: BODY`, `drop S`, `before S: BODY`, `after S: BODY`."""
        action: Any = str(c[0])
        return syntax.Edit(action, c[1], c[-1] if len(c) > 2 else (), span=extent(c))

    replace_edit = drop_edit = before_edit = after_edit = edit

    def header_edit(self, c: Children) -> syntax.Edit:
        """`replace if P by if Q`."""
        if type(c[1]) is not type(c[3]):
            note = "a whole statement is replaced by a body: `replace if P by: ...`"
            self.report("E0131", "a header is replaced by one of its kind", c[3].span, note)
        return syntax.Edit("header", c[1], (c[3],), span=extent(c))

    def inside_edit(self, c: Children) -> syntax.Edit:
        """`inside if P: EDITS`."""
        return syntax.Edit("inside", c[1], edits=pick(c[2:], syntax.Edit), span=extent(c))

    # --- scenarios -----------------------------------------------------------------------------

    def scenario(self, c: Children) -> syntax.Scenario:
        block = _Items(c)
        casts = pick(block.items, Cast)
        for extra in casts[1:]:
            self.report("E0130", "`processes` a second time", extra.span, f"first on line {casts[0].span.line}")
        names = pick(c[: next(at for at, child in enumerate(c) if str(child) == ":")], Name)
        steps = tuple(item for item in block.items if isinstance(item, syntax.ScenarioStep | syntax.Assertion))
        return syntax.Scenario(
            names[0],
            names[1],
            names[2] if len(names) > 2 else None,
            casts[0].names if casts else (),
            steps,
            pick(block.items, Expect),
            pick(block.items, syntax.LinkLine),
            pick(block.items, syntax.Given),
            doc=block.doc,
            span=extent(c),
        )
