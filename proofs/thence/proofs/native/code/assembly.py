"""LLVM assembly, written line by line: a module, its functions, their blocks, and the instructions that searches need.

llvmlite has trees of instructions, too, and writes them as text. That takes eight times as long as to write the text at
once, and most of the time that it takes to make code in haste.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple

I1: Final = "i1"
I32: Final = "i32"
I64: Final = "i64"
POINTER: Final = "ptr"
VOID: Final = "void"

_OPERATORS: Final = {"==": "eq", "!=": "ne", "<": "ult", "<=": "ule", ">": "ugt", ">=": "uge"}
_WEIGHTS: Final = {None: "", True: ", !prof !0", False: ", !prof !1"}


class Value(NamedTuple):
    """A value in a function: its type, and its name or the constant."""

    type: str
    name: str


@dataclass(slots=True)
class Module:
    """Functions and tables for one machine: its triple and data layout. `str` gives the text."""

    triple: str
    data_layout: str
    functions: list[Function] = field(init=False, default_factory=list)
    tables: dict[str, tuple[int, ...]] = field(init=False, default_factory=dict)
    intrinsics: dict[str, str] = field(init=False, default_factory=dict)

    def table(self, values: Sequence[int], name: str) -> Value:
        """An array of constants; the same for one name."""
        known = self.tables.setdefault(name, tuple(values))
        assert known == tuple(values), f"there are two tables of the name {name}"
        return Value(POINTER, f'@"{name}"')

    def __str__(self) -> str:
        lines = [f'target triple = "{self.triple}"', f'target datalayout = "{self.data_layout}"']
        for name, values in self.tables.items():
            elements = ", ".join([f"i64 {value}" for value in values])
            lines.append(f'@"{name}" = internal constant [{len(values)} x i64] [{elements}]')
        lines += self.intrinsics.values()
        lines += [str(function) for function in self.functions]
        lines += ['!0 = !{!"branch_weights", i32 99, i32 1}', '!1 = !{!"branch_weights", i32 1, i32 99}', ""]
        return "\n".join(lines)


@dataclass(slots=True)
class Block:
    """Instructions in a row; nothing comes behind one that ends the block."""

    name: str
    lines: list[str] = field(default_factory=list)
    ended: bool = False


class Function:
    """A function of a module, which is in it from the beginning. `internal`: nothing outside of the module calls it."""

    def __init__(self, module: Module, name: str, parameters: Sequence[str], result: str, *, internal: bool) -> None:
        self.module = module
        self.name = name
        self.args = tuple(Value(kind, f"%a{at}") for at, kind in enumerate(parameters))
        self.result = result
        self.internal = internal
        self.blocks = [Block("entry")]
        self.reserved: list[str] = []
        self.named = 0
        module.functions.append(self)

    def fresh(self) -> int:
        """A number that no other name has."""
        self.named += 1
        return self.named

    def __str__(self) -> str:
        parameters = ", ".join([f"{each.type} {each.name}" for each in self.args])
        linkage = "internal " if self.internal else ""
        lines = [f'define {linkage}{self.result} @"{self.name}"({parameters}) nounwind {{']
        for block in self.blocks:
            assert block.ended, f"a block of {self.name} has no end"
            lines.append(f"{block.name}:")
            lines += self.reserved if block.name == "entry" else ()
            lines += block.lines
        return "\n".join([*lines, "}"])


class Builder:
    """Writes the instructions of a function, at the end of one block after the other. See LLVM's language reference."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.block = function.blocks[0]

    def _write(self, line: str) -> None:
        assert not self.block.ended, f"a block of {self.function.name} goes on behind its end"
        self.block.lines.append(line)

    def _named(self, kind: str, text: str) -> Value:
        name = f"%v{self.function.fresh()}"
        self._write(f"{name} = {text}")
        return Value(kind, name)

    # --- numbers -----------------------------------------------------------------------------

    def binary(self, operation: str, left: Value, right: Value) -> Value:
        """An operation on two numbers of one type, by its name in assembly."""
        return self._named(left.type, f"{operation} {left.type} {left.name}, {right.name}")

    def and_(self, left: Value, right: Value) -> Value:
        return self.binary("and", left, right)

    def or_(self, left: Value, right: Value) -> Value:
        return self.binary("or", left, right)

    def not_(self, value: Value) -> Value:
        return self._named(value.type, f"xor {value.type} {value.name}, {'true' if value.type == I1 else '-1'}")

    def icmp_unsigned(self, operator: str, left: Value, right: Value) -> Value:
        return self._named(I1, f"icmp {_OPERATORS[operator]} {left.type} {left.name}, {right.name}")

    def select(self, condition: Value, then: Value, otherwise: Value) -> Value:
        of_kind = then.type
        chosen = f"{of_kind} {then.name}, {of_kind} {otherwise.name}"
        return self._named(of_kind, f"select i1 {condition.name}, {chosen}")

    def zext(self, value: Value, kind: str) -> Value:
        return self._converted("zext", value, kind)

    def trunc(self, value: Value, kind: str) -> Value:
        return self._converted("trunc", value, kind)

    def inttoptr(self, value: Value) -> Value:
        return self._converted("inttoptr", value, POINTER)

    def _converted(self, how: str, value: Value, kind: str) -> Value:
        return self._named(kind, f"{how} {value.type} {value.name} to {kind}")

    # --- memory ------------------------------------------------------------------------------

    def reserve(self, count: int) -> Value:
        """So many words on the stack, for as long as the function runs."""
        name = f"%v{self.function.fresh()}"
        self.function.reserved.append(f"{name} = alloca i64, i64 {count}")
        return Value(POINTER, name)

    def gep(self, base: Value, at: Value, element: str) -> Value:
        return self._named(POINTER, f"getelementptr {element}, ptr {base.name}, i64 {at.name}")

    def load(self, place: Value, kind: str) -> Value:
        return self._named(kind, f"load {kind}, ptr {place.name}")

    def load_atomic(self, place: Value, ordering: str, align: int, kind: str) -> Value:
        return self._named(kind, f"load atomic {kind}, ptr {place.name} {ordering}, align {align}")

    def store(self, value: Value, place: Value) -> None:
        self._write(f"store {value.type} {value.name}, ptr {place.name}")

    def atomic_rmw(self, operation: str, place: Value, value: Value, ordering: str) -> Value:
        return self._named(value.type, f"atomicrmw {operation} ptr {place.name}, {value.type} {value.name} {ordering}")

    def cmpxchg(self, place: Value, old: Value, new: Value, ordering: str, otherwise: str) -> tuple[Value, Value]:
        """Puts `new` in the place of `old`. Gives what was there, and whether that was `old`."""
        kind = f"{{{new.type}, i1}}"
        old_and_new = f"{new.type} {old.name}, {new.type} {new.name}"
        both = self._named(kind, f"cmpxchg ptr {place.name}, {old_and_new} {ordering} {otherwise}")
        found = self._named(new.type, f"extractvalue {kind} {both.name}, 0")
        return found, self._named(I1, f"extractvalue {kind} {both.name}, 1")

    # --- control -----------------------------------------------------------------------------

    def call(self, function: Function, arguments: Sequence[Value]) -> Value:
        """Gives what the function returns; it has no name where that is nothing."""
        kinds = [each.type for each in function.args]
        assert kinds == [each.type for each in arguments], f"{function.name} takes {kinds}"
        return self._called(function.name, function.result, arguments)

    def intrinsic(self, name: str, result: str, arguments: Sequence[Value]) -> Value:
        """Calls what LLVM defines."""
        if name not in self.function.module.intrinsics:
            kinds = ", ".join([each.type for each in arguments])
            self.function.module.intrinsics[name] = f'declare {result} @"{name}"({kinds})'
        return self._called(name, result, arguments)

    def _called(self, name: str, result: str, arguments: Sequence[Value]) -> Value:
        given = ", ".join([f"{each.type} {each.name}" for each in arguments])
        call = f'call {result} @"{name}"({given})'
        if result != VOID:
            return self._named(result, call)
        self._write(call)
        return Value(VOID, "")

    def append_block(self) -> Block:
        """A new block behind all others."""
        block = Block(f"b{self.function.fresh()}")
        self.function.blocks.append(block)
        return block

    def continue_in(self, block: Block) -> None:
        self.block = block

    def branch(self, target: Block) -> None:
        self._end(f"br label %{target.name}")

    def branch_if(self, condition: Value, then: Block, otherwise: Block, likely: bool | None = None) -> None:
        target = f"label %{then.name}, label %{otherwise.name}"
        self._end(f"br i1 {condition.name}, {target}{_WEIGHTS[likely]}")

    def give(self, value: Value | None) -> None:
        self._end("ret void" if value is None else f"ret {value.type} {value.name}")

    def unreachable(self) -> None:
        self._end("unreachable")

    def _end(self, line: str) -> None:
        self._write(line)
        self.block.ended = True

    @contextmanager
    def if_then(self, condition: Value, likely: bool | None) -> Iterator[None]:
        """What is written inside happens only if the condition holds."""
        inside, after = self.append_block(), self.append_block()
        self.branch_if(condition, inside, after, likely)
        with self._inside(inside, after):
            yield
        self.continue_in(after)

    @contextmanager
    def if_else(self, condition: Value) -> Iterator[tuple[AbstractContextManager[None], AbstractContextManager[None]]]:
        """Two places to write what happens if the condition holds, and what does if not."""
        inside, otherwise, after = self.append_block(), self.append_block(), self.append_block()
        self.branch_if(condition, inside, otherwise)
        yield self._inside(inside, after), self._inside(otherwise, after)
        self.continue_in(after)

    @contextmanager
    def _inside(self, block: Block, after: Block) -> Iterator[None]:
        self.continue_in(block)
        yield
        if not self.block.ended:
            self.branch(after)
