"""From the reductions of the grammar to syntax trees: scopes, their settings and what is expected."""

from __future__ import annotations

from typing import Any

from thence.dsl.text import syntax
from thence.dsl.text.programs import setting_key
from thence.dsl.text.syntax import Expect, Name, Node, Setting
from thence.dsl.text.trees.block import Block
from thence.dsl.text.trees.body import Children, extent, pick
from thence.dsl.text.trees.scenario import ScenarioBuilder, given_value
from thence.spec.value import record


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


class ScopeBuilder(ScenarioBuilder):
    """One method for each setting."""

    def scope(self, c: Children) -> syntax.Scope:
        block = Block(c)
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
