"""Theories and theorems, checked and typed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from thence.dsl import ir
from thence.dsl.check.definitions import with_definitions
from thence.dsl.check.expectations import check_expectations
from thence.dsl.check.symbols import SymbolTable, check_formulas
from thence.dsl.check.terms.environment import LocalName, Vocabulary, declare, here
from thence.dsl.check.terms.expressions import ExpressionChecker
from thence.dsl.check.terms.inference import infer_types
from thence.dsl.check.terms.types import resolve_sort
from thence.dsl.ir.traversal import nodes
from thence.dsl.ir.types import BOOL, Sort, Type
from thence.dsl.text import syntax
from thence.dsl.text.diagnostics import did_you_mean
from thence.dsl.text.reporter import Reporter
from thence.dsl.text.syntax import Span
from thence.spec.components import components
from thence.spec.words import counted


def check_theory(
    theory: syntax.Theory, reporter: Reporter, shared: Sequence[syntax.Definition] = ()
) -> ir.Theory | None:
    """The typed theory; None if anything in it is erroneous. `shared` are the definitions of the file."""
    before = reporter.errors
    sorts: dict[str, Sort] = {}
    ordered: list[str] = []
    spans: dict[str, Span] = {}
    for declaration in theory.sorts:
        for name in declaration.names:
            if name.text in ("process", "message") and name.text not in spans:
                spans[name.text] = name.span  # a theory declares the sorts that it speaks of, these too
            elif not declare(name, "sort", spans, reporter):
                continue
            sorts[name.text] = Sort(name.text)
            ordered += [name.text] if declaration.ordered else []
    types: dict[str, Type | None] = dict(sorts)
    table = SymbolTable(types, types, reporter, "in a theory")
    for function in theory.functions:
        table.add(function)
    for relation in theory.relations:
        table.add(relation)
    vocabulary = Vocabulary("theory", types, dict(table.known), ordered=frozenset(ordered))
    inductives, vocabulary = _inductives(theory.inductives, vocabulary, table.spans, reporter)
    vocabulary = with_definitions(vocabulary, theory.definitions, shared, theory, reporter)
    checker = ExpressionChecker(vocabulary, reporter, {}, {})
    axioms = check_formulas(theory.axioms, "axiom", checker, {})
    properties = check_formulas(theory.properties, "property", checker, {})
    if reporter.errors > before:
        return None
    return ir.Theory(
        theory.name.text,
        tuple(sorts.values()),
        tuple(ordered),
        table.symbols,
        axioms,
        inductives,
        properties,
        doc=theory.doc,
        span=theory.span,
    )


def _inductives(
    declarations: Sequence[syntax.Inductive], vocabulary: Vocabulary, spans: dict[str, Span], reporter: Reporter
) -> tuple[tuple[ir.Inductive, ...], Vocabulary]:
    """The inductive relations, and the vocabulary that has them all. Their rules may use each other."""
    for declaration in declarations:
        declare(declaration.name, "relation", spans, reporter)
        if not declaration.rules:
            empty = f"`{declaration.name.text}` has no rules: it would be empty"
            reporter.error("E0515", declaration.name.span, empty)
    vocabulary, typed = _typed_parameters(declarations, vocabulary, reporter)
    together = _built_together(declarations)
    found: list[ir.Inductive] = []
    for declaration in declarations:
        name, parameters = declaration.name.text, typed[id(declaration)]
        if parameters is None:
            continue
        written = zip(declaration.parameters, parameters, strict=True)
        locals_ = {one.name: LocalName(one.type, parameter.span, "parameter") for parameter, one in written}
        checker = ExpressionChecker(vocabulary, reporter, locals_, {})
        rules = check_formulas(declaration.rules, "rule", checker, {})
        for rule in declaration.rules:
            _check_positive(rule.body, name, together[name], reporter)
        found.append(ir.Inductive(name, parameters, rules))
    return tuple(found), vocabulary


def _typed_parameters(
    declarations: Sequence[syntax.Inductive], vocabulary: Vocabulary, reporter: Reporter
) -> tuple[Vocabulary, dict[int, tuple[ir.Variable, ...] | None]]:
    """The parameters of each relation, None where they are erroneous, and the vocabulary with the relations.

    The rules of one may tell the types of another, so those that are open are looked at again until no more is told.
    """
    typed: dict[int, tuple[ir.Variable, ...] | None] = {}
    left = list(declarations)
    while left:
        told = [each for each in left if None not in _inferred(each, vocabulary).values()] or left
        for each in told:
            parameters = typed[id(each)] = _inductive_parameters(each, vocabulary, reporter)
            symbol = None if parameters is None else ir.Symbol(each.name.text, parameters, BOOL)
            known = {**vocabulary.symbols, each.name.text: symbol}
            vocabulary = Vocabulary("theory", vocabulary.types, known, ordered=vocabulary.ordered)
        left = [each for each in left if id(each) not in typed]
    return vocabulary, typed


def _inferred(declaration: syntax.Inductive, vocabulary: Vocabulary) -> dict[str, Type | None]:
    open_names = [parameter.name.text for parameter in declaration.parameters if parameter.type is None]
    return infer_types(open_names, [rule.body for rule in declaration.rules], vocabulary, {})


def _built_together(declarations: Sequence[syntax.Inductive]) -> dict[str, set[str]]:
    """For each relation those that it is built from and that are built from it, itself among them."""
    uses = {each.name.text: [use for rule in each.rules for use in _uses(rule.body)] for each in declarations}
    return {name: group for group in components(uses, uses.__getitem__) for name in group}


def _uses(formula: syntax.Expr) -> list[str]:
    return [node.function.text for node in nodes(formula) if isinstance(node, syntax.Apply)]


def _inductive_parameters(
    declaration: syntax.Inductive, vocabulary: Vocabulary, reporter: Reporter
) -> tuple[ir.Variable, ...] | None:
    names: dict[str, Span] = {}
    inferred = _inferred(declaration, vocabulary)
    found: list[ir.Variable] = []
    for parameter in declaration.parameters:
        name = parameter.name.text
        fresh = declare(parameter.name, "parameter", names, reporter)
        if name in vocabulary.symbols:
            reporter.error(
                "E0209", parameter.span, f"`{name}` hides the relation or function `{name}`", "choose another name"
            )
        if parameter.type is not None:
            type_ = resolve_sort(parameter.type, vocabulary.types, reporter, "as a parameter in a theory")
        else:
            type_ = inferred[name]
            if type_ is None:
                reporter.error(
                    "E0303",
                    parameter.name.span,
                    f"the type of `{name}` cannot be found out from the rules",
                    f"write `{name}: TYPE`",
                )
        if type_ is not None and fresh:
            found.append(ir.Variable(name, type_))
    return tuple(found) if len(found) == len(declaration.parameters) else None


def _check_positive(formula: syntax.Expr, name: str, together: Collection[str], reporter: Reporter) -> None:
    """The least relations that are built together exist where the rules of each use them positively only."""
    stack: list[tuple[syntax.Expr, bool]] = [(formula, True)]
    while stack:
        part, positive = stack.pop()
        match part:
            case syntax.Apply(function=function, arguments=arguments):
                if function.text in together and not positive:
                    where = "its own rule" if function.text == name else f"a rule of `{name}`, from which it is built"
                    reporter.error(
                        "E0514",
                        part.span,
                        f"`{function.text}` stands negatively in {where}",
                        "the least relation closed under the rules exists only where they use it positively",
                    )
                stack.extend((argument, False) for argument in arguments)
            case syntax.Not(operand=operand):
                stack.append((operand, not positive))
            case syntax.Binary(operator="and" | "or", left=left, right=right):
                stack += [(left, positive), (right, positive)]
            case syntax.Binary(operator="implies", left=left, right=right):
                stack += [(left, not positive), (right, positive)]
            case syntax.Binary(left=left, right=right):
                stack += [(left, False), (right, False)]
            case syntax.Conditional(condition=condition, then=then, otherwise=otherwise):
                stack += [(condition, False), (then, positive), (otherwise, positive)]
            case syntax.Quantified(body=body):
                stack.append((body, positive))
            case _:
                pass


def check_theorems(
    theorems: Sequence[syntax.Theorem],
    theories: Mapping[str, ir.Theory | None],
    words: Callable[[syntax.Theorem, ir.Theory], Vocabulary],
    reporter: Reporter,
) -> list[ir.Theorem | None]:
    """The typed theorems in the order of the text, each over those before it. `words` are those of its claims."""
    later = {theorem.name.text for theorem in theorems}
    found: dict[str, ir.Theorem | None] = {}
    for theorem in theorems:
        lemmas = _lemmas(theorem, found, later, reporter)
        found[theorem.name.text] = _theorem(theorem, lemmas, theories, words, reporter)
    return list(found.values())


def _lemmas(
    theorem: syntax.Theorem, before: Mapping[str, ir.Theorem | None], all_: Collection[str], reporter: Reporter
) -> tuple[ir.Theorem, ...] | None:
    """The theorems that this one uses; None where one of them is erroneous."""
    errors, seen, found = reporter.errors, dict[str, Span](), list[ir.Theorem | None]()
    for name in theorem.lemmas:
        if not declare(name, "lemma", seen, reporter):
            continue
        if name.text not in before:
            itself = "it is this theorem" if name.text == theorem.name.text else "it stands after this one"
            what = itself if name.text in all_ else "there is none"
            notes = ("a theorem uses those before it", *did_you_mean(name.text, before))
            reporter.error("E0522", name.span, f"theorem `{name.text}` cannot be used here: {what}", *notes)
            continue
        lemma = before[name.text]
        if lemma is not None and lemma.theory.name != theorem.theory.text:
            what = f"`{name.text}` is a theorem of `{lemma.theory.name}`, not of `{theorem.theory.text}`"
            reporter.error("E0522", name.span, what)
        elif lemma is not None and {each.verdict for each in lemma.expects} & {"refuted", "unknown"}:
            what = f"theorem `{name.text}` cannot be used: its own line says that it is not proved"
            reporter.error("E0522", name.span, what)
        found.append(lemma)
    usable = tuple(lemma for lemma in found if lemma is not None)
    return usable if reporter.errors == errors and len(usable) == len(found) else None


def _theorem(
    theorem: syntax.Theorem,
    lemmas: tuple[ir.Theorem, ...] | None,
    theories: Mapping[str, ir.Theory | None],
    words: Callable[[syntax.Theorem, ir.Theory], Vocabulary],
    reporter: Reporter,
) -> ir.Theorem | None:
    """The typed theorem; None if it, its theory or a lemma is erroneous."""
    before = reporter.errors
    name, report = theorem.theory.text, reporter.error
    theory = theories.get(name)
    if name not in theories:
        report("E0210", theorem.theory.span, f"there is no theory `{name}`", *did_you_mean(name, theories))
    expects = check_expectations(theorem.expects, reporter, "theorem", set(), f"theorem `{theorem.name.text}`")
    if not theorem.prove:
        report("E0515", theorem.name.span, f"theorem `{theorem.name.text}` proves nothing", "write `prove PROPERTY`")
    assumed = {one.text for one in theorem.assume}
    for one in theorem.prove:
        if one.text in assumed:
            report("E0516", one.span, f"`{one.text}` is assumed and proved")
    for one in theorem.needs:
        if one.text not in assumed:
            report("E0513", one.span, f"`{one.text}` is needed but not assumed", *did_you_mean(one.text, assumed))
    if theory is None:
        return None
    assume = _properties(theorem.assume, theory, reporter)
    prove = _properties(theorem.prove, theory, reporter)
    inductions = _inductions(theorem.inductions, theory, words(theorem, theory), reporter) if theorem.inductions else ()
    if reporter.errors > before or lemmas is None:
        return None
    needs = tuple(one.text for one in theorem.needs)
    return ir.Theorem(
        theorem.name.text,
        theory,
        assume,
        prove,
        inductions,
        needs,
        expects,
        lemmas=lemmas,
        doc=theorem.doc,
        span=theorem.span,
    )


def _properties(names: Sequence[syntax.Name], theory: ir.Theory, reporter: Reporter) -> tuple[ir.NamedFormula, ...]:
    known = {formula.name: formula for formula in theory.properties}
    seen: dict[str, Span] = {}
    found: list[ir.NamedFormula] = []
    for name in names:
        if name.text not in known:
            reporter.error(
                "E0510",
                name.span,
                f"theory `{theory.name}` has no property `{name.text}`",
                *did_you_mean(name.text, known),
            )
        elif declare(name, "property", seen, reporter):
            found.append(known[name.text])
    return tuple(found)


def _inductions(
    inductions: Sequence[syntax.Induction], theory: ir.Theory, words: Vocabulary, reporter: Reporter
) -> tuple[ir.Induction, ...]:
    """Each with its claims, whose names differ; a claim without a name is `claim`, with its number among several."""
    parts = [part for induction in inductions for part in induction.parts]
    several = sum(len(part.claims) for part in parts) > 1
    taken: dict[str, Span] = {}
    found: list[ir.Induction] = []
    number = 0
    for induction in inductions:
        if not induction.parts:
            reporter.error(
                "E0515", induction.span, "the induction claims nothing", "write `on RELATION(x, y) claim: P`"
            )
        typed: list[ir.InductionOn | None] = []
        relations: dict[str, Span] = {}
        for part in induction.parts:
            names: list[str] = []
            for claim in part.claims:
                number += 1
                if claim.name.text:
                    declare(claim.name, "claim", taken, reporter)
                names.append(claim.name.text or (f"claim_{number}" if several else "claim"))
            if declare(part.relation, "relation", relations, reporter):
                typed.append(_induction(part, names, theory, words, reporter))
        found.append(ir.Induction(tuple(part for part in typed if part is not None)))
    return tuple(found)


def _induction(
    induction: syntax.InductionOn, names: Sequence[str], theory: ir.Theory, words: Vocabulary, reporter: Reporter
) -> ir.InductionOn | None:
    name = induction.relation.text
    if not induction.claims:
        reporter.error("E0515", induction.relation.span, "the induction claims nothing", "write `claim: P`")
        return None
    relations = {inductive.name: inductive for inductive in theory.inductives}
    relation = relations.get(name)
    if relation is None:
        declared = any(symbol.name == name for symbol in theory.symbols)
        reporter.error(
            "E0511",
            induction.relation.span,
            f"`{name}` is not an inductive relation" if declared else f"there is no inductive relation `{name}`",
            *did_you_mean(name, relations),
            "induction is on a relation that `inductive` declares by its rules",
        )
        return None
    if len(induction.variables) != len(relation.parameters):
        reporter.error(
            "E0512",
            induction.relation.span,
            f"`{name}` takes {counted(len(relation.parameters), 'variable')}, {here(len(induction.variables))}",
            f"write `by induction on {name}({', '.join(one.name for one in relation.parameters)})`",
        )
        return None
    seen: dict[str, Span] = {}
    variables: list[ir.Variable] = []
    locals_: dict[str, LocalName] = {}
    for variable, parameter in zip(induction.variables, relation.parameters, strict=True):
        if declare(variable, "variable", seen, reporter):
            variables.append(ir.Variable(variable.text, parameter.type))
            locals_[variable.text] = LocalName(parameter.type, variable.span, "bound")
    checker = ExpressionChecker(words, reporter, locals_, {})
    claims: list[ir.NamedFormula] = []
    for claim, called in zip(induction.claims, names, strict=True):
        body = checker.check(claim.body, BOOL, "a claim is true or false")
        if body is not None:
            claims.append(ir.NamedFormula(called, body, span=claim.span))
    if len(claims) < len(induction.claims) or len(variables) != len(relation.parameters):
        return None
    return ir.InductionOn(name, tuple(variables), tuple(claims))


def words_of_claims(
    theorem: syntax.Theorem,
    theory: ir.Theory,
    written: syntax.Theory,
    shared: Sequence[syntax.Definition],
    reporter: Reporter,
) -> Vocabulary:
    """The names that claims of inductions use: those of the theory, with its definitions and those of the file."""
    symbols: dict[str, ir.Symbol | None] = {symbol.name: symbol for symbol in theory.symbols}
    for inductive in theory.inductives:
        symbols[inductive.name] = ir.Symbol(inductive.name, inductive.parameters, BOOL)
    types: dict[str, Type | None] = {sort.name: sort for sort in theory.sorts}
    vocabulary = Vocabulary("theory", types, symbols, ordered=frozenset(theory.ordered))
    inner = reporter.within(reporter.notes)
    found = with_definitions(vocabulary, written.definitions, shared, written, inner, (theorem,))
    reporter.found += [fault for fault in inner.found if fault not in reporter.found]
    return found
