"""Counting the operations of an implementation, without a clock: the same number on every machine.

An implementation's source is compiled again with a counter at each call, comparison, arithmetic operation, slice,
starred value and step of a loop. What C code walks in one call (`tuple(row)`, `map(max, ours, theirs)`, a comparison of
rows, a number of more than 64 bits) counts an operation for each element or word. The program is otherwise the same:
what it returns does not change, and a test holds both against each other.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass, field
from heapq import heappop, heappush
from types import ModuleType
from typing import Any, Final

_PACKAGE: Final = "thence.impl."
_SHARED: Final = frozenset({"thence.impl.commands"})
"""Modules of plain values, the same for counted and for other implementations."""

_WALKERS: Final[tuple[Any, ...]] = (tuple, list, set, frozenset, dict, sorted, min, max, sum, map)
_SEQUENCES: Final = (tuple, list, deque)
_WALKING_METHODS: Final = frozenset({"count", "index", "remove", "copy", "update", "extend"})
_WORD_BITS: Final = 64

_BINARY: Final[dict[type, str]] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow",
    ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or_", ast.BitAnd: "and_", ast.BitXor: "xor",
}  # fmt: skip
_COMPARISONS: Final[dict[type, str]] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip


@dataclass(slots=True)
class Meter:
    """Number of counted operations."""

    count: int = 0

    def call(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:
        """Calls, and counts one, and the elements that a built-in function walks."""
        self.count += 1 + self._walked(function, arguments)
        result = function(*arguments, **named)
        if getattr(function, "__name__", "") == "find" and not inspect.ismethod(function):
            searched: Any = getattr(function, "__self__", ())
            self.count += result if result >= 0 else len(searched)
        return result

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """Compares: one, and an element each of two sequences that are compared."""
        both = isinstance(left, _SEQUENCES) and isinstance(right, _SEQUENCES)
        self.count += 1 + (min(len(left), len(right)) if both else 0) + _words(left) + _words(right)
        return getattr(operator, name)(left, right)

    def contains(self, left: Any, right: Any) -> bool:
        """Tests membership: one for a hashed collection, one for each element of a sequence."""
        self.count += 1 + (len(right) if isinstance(right, _SEQUENCES) else 0)
        return left in right

    def binary(self, name: str, left: Any, right: Any) -> Any:
        """Computes: one, and the words of large numbers, and the elements of a new sequence or dictionary."""
        result = getattr(operator, name)(left, right)
        self.count += 1 + _words(result) + (len(result) if isinstance(result, (*_SEQUENCES, dict, set)) else 0)
        return result

    def value(self, value: Any) -> Any:
        """A value that is sliced, starred or added in place: one, and its elements or words."""
        self.count += 1 + (len(value) if isinstance(value, Sized) else _words(value))
        return value

    def each(self, values: Iterable[Any]) -> Iterator[Any]:
        """Goes through the values: one each."""
        for value in values:
            self.count += 1
            yield value

    @staticmethod
    def _walked(function: Any, arguments: tuple[Any, ...]) -> int:
        if any(function is walker for walker in _WALKERS):
            if function in (min, max, sum) and len(arguments) > 1 and not isinstance(arguments[0], Sized):
                return len(arguments)
            return sum(len(each) if isinstance(each, Sized) else 0 for each in arguments)
        if function in (heappush, heappop):
            return len(arguments[0]).bit_length()
        owner = getattr(function, "__self__", None)
        if owner is None or inspect.ismethod(function):
            return 0
        name = function.__name__
        if name == "pack":
            return len(arguments)
        if name == "from_bytes":
            return len(arguments[0]) * 8 // _WORD_BITS
        if name in ("extend", "update"):
            return sum(len(each) for each in arguments if isinstance(each, Sized))
        return len(owner) if name in _WALKING_METHODS and isinstance(owner, Sized) else 0


def _words(value: object) -> int:
    """The words of a number, where it is more than one."""
    return value.bit_length() // _WORD_BITS if type(value) is int else 0


class _Counting(ast.NodeTransformer):
    """Puts the counter into a module. Annotations stay as they are."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """Assertions are no part of the algorithm."""
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(_method("call"), [node.func, *node.args], node.keywords)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) > 1:
            return ast.Call(_method("value"), [node], [])
        left, right, comparison = node.left, node.comparators[0], node.ops[0]
        if type(comparison) in _COMPARISONS:
            return ast.Call(_method("compare"), [ast.Constant(_COMPARISONS[type(comparison)]), left, right], [])
        if isinstance(comparison, ast.In | ast.NotIn):
            found = ast.Call(_method("contains"), [left, right], [])
            return found if isinstance(comparison, ast.In) else ast.UnaryOp(ast.Not(), found)
        return ast.Call(_method("value"), [node], [])

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(_method("binary"), [ast.Constant(_BINARY[type(node.op)]), node.left, node.right], [])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        node.value = ast.Call(_method("value"), [node.value], [])
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Slice) and isinstance(node.ctx, ast.Load):
            return ast.Call(_method("value"), [node], [])
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = ast.Call(_method("value"), [node.value], [])
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = ast.Call(_method("each"), [node.iter], [])
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = ast.Call(_method("each"), [node.iter], [])
        return node


def _method(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name("__meter__", ast.Load()), name, ast.Load())


@dataclass(slots=True)
class Metered:
    """An implementation and the modules that it uses, compiled with a counter.

    Attributes:
        meter: counts the operations of all of them.
        modules: the counted ones, by name.
    """

    meter: Meter = field(default_factory=Meter)
    modules: dict[str, ModuleType] = field(default_factory=dict)

    def load(self, name: str) -> ModuleType:
        """A module of `thence.impl`, counted, with those that it imports from there."""
        if name in self.modules:
            return self.modules[name]
        original = importlib.import_module(name)
        tree = _Counting().visit(ast.parse(inspect.getsource(original)))
        module = ModuleType(name)
        self.modules[name] = module
        known = {**vars(builtins), "__import__": self._import}
        vars(module).update({"__builtins__": known, "__meter__": self.meter, "__file__": original.__file__})
        exec(compile(ast.fix_missing_locations(tree), f"<counted {name}>", "exec"), vars(module))
        return module

    def _import(self, name: str, *rest: Any) -> Any:
        if name.startswith(_PACKAGE) and name not in _SHARED:
            return self.load(name)
        return builtins.__import__(name, *rest)
