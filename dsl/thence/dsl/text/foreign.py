"""What people write who come from Python, TLA+, Promela, P or pseudocode, and how this language writes it.

Each table maps a word to the sentence that helps, by the place where the word stands: a value, a function, a field or
a call of a value, a change of a collection, a statement. Words are looked up in lower case.
"""

from __future__ import annotations

_NONE = "an option without a value is `none`: `last := none`, `if last is none`"
_PROCESSES = "all processes are `process`: `for p in process: ...`, `forall p: process. ...`"
_EMPTY = "an empty collection is `empty`: `box := empty`"
_SIZE = "the number of elements is `.size`: `box.size`"
_FIRST = "the head of a queue is `.first`"
_SOURCE = "the sender of a message is `.src`"
_DESTINATION = "the destination of a message is `.dst`, in multicast and broadcast the destinations are `.dsts`"
_TEST_EMPTY = "write `box is empty` or `box is not empty`"
_CONTAINS = "write `x in box` or `x not in box`"
_VALUE = "the value in an option is `.value`, and `last is none` says it has none; an entry of a map is `M[k]`"
_KEYS = "`for k in M` goes through the keys of a map, and `M[k]` is the entry"
_PUSH = "a queue grows with `.push(x)`, a set with `.add(x)`"
_POP = "`.pop()` removes the first of a queue; read it before, as `.first`"
_REMOVE = "an element is removed with `.remove(x)`"
_RANGE = "there are no ranges of numbers; go through a collection, `for p in process`, or count in a state variable"
_EXISTS = "write `exists x in box. P`"
_FORALL = "write `forall x in box. P`"
_SUM = "write `sum x in box. e`; `count x in box. P` counts elements"
_TIMER = "what happens again and again, at times that nobody knows, is `periodically:`"
_WAIT = "a handler never waits; what has to wait stays in the state, and a later handler looks at it"
_LOOP_END = "a loop ends when its condition is false; `return` leaves the handler or procedure"
_BLOCK_END = "a block ends where the indentation does; no word closes it"
_CASES = "write `if ...:` and `else if ...:`"
_LET = "a local name is `let x = e`; what lasts is a state variable, under `state:`"
_SKIP = "a statement that does nothing is `pass`"
_CHECK = "what has to be true is a property of the protocol: `invariant name: ...`"

VALUES = {
    **dict.fromkeys(("none", "null", "nil", "undefined", "nothing", "bot"), _NONE),
    "true": "write `true`",
    "false": "write `false`",
    **dict.fromkeys(("this", "me", "myself", "my_id", "pid", "_pid"), "the process that runs a handler is `self`"),
    **dict.fromkeys(
        ("processes", "procs", "proc", "nodes", "peers", "everyone", "all", "others", "everybody"),
        _PROCESSES,
    ),
    "flight": "packets on their way are `forall KIND(...) from p to q in flight. P`",
    "infinity": "numbers have no greatest one; an option without a value is `none`",
}
"""Names that stand for values."""

FUNCTIONS = {
    **dict.fromkeys(("len", "length", "size", "cardinality", "card"), _SIZE),
    "range": _RANGE,
    "any": _EXISTS,
    "all": _FORALL,
    **dict.fromkeys(("sum", "reduce", "fold"), _SUM),
    **dict.fromkeys(("set", "list", "dict", "queue", "deque", "map", "array", "seq", "defaultdict"), _EMPTY),
    **dict.fromkeys(("processes", "procs", "nodes"), _PROCESSES),
    **dict.fromkeys(("some", "just", "optional", "option"), "an option that holds a value is `some(x)`"),
    **dict.fromkeys(("head", "peek", "first"), _FIRST),
    **dict.fromkeys(("append", "enqueue", "push"), _PUSH),
    **dict.fromkeys(("domain", "keys"), _KEYS),
    **dict.fromkeys(("print", "printf", "log"), "nothing is printed; `thence run` shows every step"),
    "assert": _CHECK,
    **dict.fromkeys(("sender", "source"), _SOURCE),
    **dict.fromkeys(("destination", "receiver", "dest"), _DESTINATION),
    "broadcast": "write `for p in process: send KIND(...) to p`",
    **dict.fromkeys(("skip", "noop"), _SKIP),
    **dict.fromkeys(("sleep", "wait", "await"), _WAIT),
    "abs": "numbers are natural; compare first, then write the difference",
    "not": "write `not P`",
}
"""Names that are called."""

FIELDS = {
    **dict.fromkeys(("length", "len", "count", "size", "cardinality"), _SIZE),
    **dict.fromkeys(("head", "front", "peek", "top", "first"), _FIRST),
    **dict.fromkeys(("tail", "rest", "last", "back"), "a queue gives its `.first`; `for x in box` goes through all"),
    **dict.fromkeys(("get_or_none", "unwrap", "val", "get", "is_some", "is_none", "isnone", "present"), _VALUE),
    **dict.fromkeys(("is_empty", "isempty", "empty", "any"), _TEST_EMPTY),
    **dict.fromkeys(("contains", "has", "includes", "contains_key", "member", "index", "find"), _CONTAINS),
    **dict.fromkeys(("sender", "source", "origin", "from", "src_id"), _SOURCE),
    **dict.fromkeys(("receiver", "dest", "destination", "to", "target", "recipient", "dst_id"), _DESTINATION),
    **dict.fromkeys(
        ("id", "mid", "seq", "seqno", "number", "uid"),
        "a message has no number; a protocol that needs one counts, and sends it as an argument of the packet",
    ),
    **dict.fromkeys(
        ("timestamp", "time", "clock", "vc", "payload", "data", "content", "body"),
        "a message is an opaque name; what goes along with it is an argument of the packet",
    ),
    **dict.fromkeys(("items", "keys", "values"), _KEYS),
    "copy": "values are never shared: `let x = e` is a copy",
}
"""Fields and queries of values, with or without parentheses."""

OPERATIONS = {
    **dict.fromkeys(
        ("append", "enqueue", "push_back", "add", "insert", "put", "push", "offer", "extend", "union"), _PUSH
    ),
    **dict.fromkeys(("popleft", "pop_front", "dequeue", "poll", "shift", "pop"), _POP),
    **dict.fromkeys(("discard", "delete", "erase", "del", "remove_all"), _REMOVE),
    **dict.fromkeys(("reset", "empty"), "`.clear()` removes everything"),
    **dict.fromkeys(("update", "set"), "an entry of a map is assigned: `M[k] := e`"),
}
"""Changes of collections."""

STATEMENTS = {
    **dict.fromkeys(("break", "continue"), _LOOP_END),
    **dict.fromkeys(("skip", "noop"), _SKIP),
    **dict.fromkeys(("end", "endif", "endwhile", "endfor", "fi", "od", "done"), _BLOCK_END),
    **dict.fromkeys(("print", "printf", "log"), "nothing is printed; `thence run` shows every step"),
    **dict.fromkeys(("raise", "throw", "abort"), _CHECK),
    **dict.fromkeys(("await", "wait", "sleep", "yield", "block"), _WAIT),
    **dict.fromkeys(("after", "every", "timer", "timeout", "schedule", "settimeout"), _TIMER),
    **dict.fromkeys(("switch", "case", "match"), _CASES),
    **dict.fromkeys(("try", "catch", "except", "finally"), "there are no exceptions; " + _CASES),
    **dict.fromkeys(("int", "integer", "boolean", "string", "str", "float", "char", "auto", "nat", "bool"), _LET),
    **dict.fromkeys(("global", "nonlocal", "static"), "state variables are in reach everywhere; no line announces it"),
    **dict.fromkeys(("del", "delete"), _REMOVE),
    "unchanged": "what no statement changes stays as it is; no line says so",
    "lambda": "a function is written where it is used: `count x in box. P`, `forall x in box. P`",
    "goto": "there are no jumps; a state variable says where a process is",
    "atomic": "a handler is one step; nothing comes between its statements",
    "do": "write `while ...:`",
    "multicast": "write `for p in m.dsts: send KIND(...) to p`",
    "receive": "a handler of its own receives: `on receive KIND(...) from p:`",
    "with": "a scope says what differs; a handler has no `with`",
    "choose": "write `choose x in S such that P: ...`",
    "either": "write `either: ...`, and `or: ...` on a line of its own",
    "and": "a line begins with a statement; a condition stands after `if`",
    "else": "it stands right below the block of its `if`, indented like the `if`",
}
"""Words that begin a line of a handler."""

_PART = "it is part of a protocol or a machine: indent it below the line of that"

DECLARATIONS = {
    **dict.fromkeys(
        ("process", "module", "class", "actor", "algorithm", "spec", "specification", "proctype", "system", "program"),
        "write `protocol NAME:` for code that processes run, `machine NAME:` for what is proved",
    ),
    **dict.fromkeys(("lemma", "proposition", "proof"), "write `theorem NAME in THEORY:`"),
    **dict.fromkeys(
        ("link", "refines", "refinement", "refine", "implements", "mapping", "simulation"),
        "write `conforms PROTOCOL to MACHINE:`",
    ),
    **dict.fromkeys(("test", "config", "instance", "model", "bounds"), "write `scope NAME of PROTOCOL:`"),
    **dict.fromkeys(("extends", "import", "include", "from", "use"), "a file stands for itself"),
    **dict.fromkeys(
        ("invariant", "property", "state", "on", "message", "procedure", "network", "transition", "relation", "record"),
        _PART,
    ),
    **dict.fromkeys(("eventually", "periodically", "function", "axiom", "prove", "constant", "stable"), _PART),
    **dict.fromkeys(("variables", "variable", "vars"), "state variables stand in a protocol, under `state:`"),
}
"""Words that begin a declaration."""

MEMBERS = {
    **dict.fromkeys(("always", "safety", "lemma", "theorem", "ensure"), "write `invariant name: ...`"),
    **dict.fromkeys(("liveness", "finally", "leads_to"), "write `eventually name: ...`"),
    **dict.fromkeys(("init", "initial", "initially", "initialize"), "a first value stands with its variable"),
    **dict.fromkeys(("variables", "vars", "locals", "fields"), "state variables stand under `state:`"),
    **dict.fromkeys(("msg", "packet", "event"), "a packet kind is `message KIND(...)`"),
    **dict.fromkeys(
        ("channel", "channels", "chan"),
        "what channels may do is `network reliable, fifo`; a packet kind, `message KIND(...)`",
    ),
    **dict.fromkeys(("const", "constants", "param", "parameter"), "write `constant N: nat = 3`"),
    **dict.fromkeys(("fun", "function", "method", "sub", "routine"), "write `procedure name(...):`"),
    **dict.fromkeys(("receive", "when", "upon", "handle", "handler"), "write `on receive KIND(...) from p:`"),
    **dict.fromkeys(("every", "timer", "timeout", "after"), _TIMER),
    **dict.fromkeys(("send", "broadcast"), "the application's send is `on causal_send(m):`"),
    **dict.fromkeys(("predicate", "pred"), "write `def name(x: process, ...): P`"),
    **dict.fromkeys(
        ("action", "rule", "step", "next", "input", "operation", "command"),
        "what the application does is an input: `on NAME(...) when P:`",
    ),
    "transition": "a step of a protocol is a handler: `on receive KIND(...) from p:`, `on NAME(...):`, `periodically:`",
    **dict.fromkeys(("relation", "sort"), "what a process remembers stands under `state:`"),
    "require": "what a handler needs is an `if` in it, or for an input `on NAME(...) when P:`",
    "prove": "write `property causal`, or a formula: `invariant name: ...`",
    **dict.fromkeys(("struct", "tuple"), "write `record Name: ...`"),
}
"""Words that begin a line of a protocol, and those of a machine that `MACHINE_MEMBERS` does not have."""

FIRST_VALUES = (
    "every relation is false at first and every function zero, but for what `initial:` says, as in "
    "`initial: forall p: token(p) := p = first()`"
)
"""How a machine starts."""

_RELATION = "what a machine remembers is `relation r(p: process)` or `function f(p: process): nat`"
_TRANSITION = "a machine has no handlers and no packets: a step is `transition name(...):`"

MACHINE_MEMBERS = {
    **dict.fromkeys(("init", "initially", "initialize"), FIRST_VALUES),
    **dict.fromkeys(("variables", "vars", "var", "variable", "locals", "fields", "state", "mutable"), _RELATION),
    **dict.fromkeys(("individual", "scalar"), "a single value is `function name(): nat`, read as `name()`"),
    **dict.fromkeys(("type", "datatype"), "write `sort name`"),
    **dict.fromkeys(("action", "rule", "step", "next", "input"), "write `transition name(...):`"),
    **dict.fromkeys(("msg", "packet", "message", "channel", "chan", "network"), _TRANSITION),
    **dict.fromkeys(("on", "receive", "when", "upon", "handle", "handler", "send", "broadcast"), _TRANSITION),
    **dict.fromkeys(("periodically", "every", "timer", "timeout", "after"), _TRANSITION),
    **dict.fromkeys(
        ("fun", "method", "sub", "routine", "procedure"), "write `transition name(...):`, or for a value `def`"
    ),
    **dict.fromkeys(("struct", "tuple", "record"), "a machine has no records: write a function for each field"),
    **dict.fromkeys(("property", "theorem", "lemma"), "write `prove causal`, or a formula: `invariant name: ...`"),
}
"""Words that begin a line of a machine."""

CLAUSES = {
    **dict.fromkeys(
        ("on", "when", "map", "action"),
        "a clause begins with what happens in the protocol: `receive KIND(...) from p is ...`",
    ),
    **dict.fromkeys(("prove", "property"), "a proof is asked for by `expect proved`"),
}
"""Words that begin a line of a link."""

OPERATORS = {
    **dict.fromkeys(("subset", "subseteq", "issubset"), "write `forall x in a. x in b`"),
    **dict.fromkeys(("union", "cup"), "write `for x in b: a.add(x)`"),
    **dict.fromkeys(
        ("intersect", "intersection", "cap", "setminus", "minus"), "write `for x in b: ...`, with `.remove(x)`"
    ),
    **dict.fromkeys(("mod", "rem", "div"), "numbers take `+`, `-` and `*`; there is no division and no remainder"),
    **dict.fromkeys(("max", "min"), "write `max(a, b)` or `min(a, b)`"),
    **dict.fromkeys(("contains", "has", "includes"), _CONTAINS),
    "notin": "write `x not in box`",
    **dict.fromkeys(("leads_to", "leadsto"), "write `P leads to Q`"),
    "equals": "equality is `=`",
}
"""Words between two values."""

TYPES = {
    **dict.fromkeys(("int", "integer", "uint", "long", "number", "natural"), "numbers are `nat`"),
    "boolean": "write `bool`",
    "enum": "there are no enumerations: write a `bool` for each case, or a `nat`",
    **dict.fromkeys(("string", "str", "text", "float", "bytes"), "there are numbers (`nat`), and no text"),
    **dict.fromkeys(("list", "seq", "sequence", "array", "deque", "vector", "fifo"), "write `queue of T`"),
    **dict.fromkeys(("dict", "dictionary", "hashmap", "table"), "write `map K to V`"),
    **dict.fromkeys(("optional", "maybe"), "write `option of T`"),
    **dict.fromkeys(("node", "pid", "proc", "id", "address", "peer"), "write `process`"),
    **dict.fromkeys(("msg", "packet", "event"), "write `message`"),
}
"""Types."""

CHARACTERS = {
    "/": "there is no division; a remark follows `#`",
    "%": "there is no remainder; numbers take `+`, `-` and `*`",
    "~": "write `not`; unequal is `!=`",
    "\\": "write `and`, `or`, `in`, `exists`, `forall`: words stand for `/\\`, `\\/`, `\\in`, `\\E`, `\\A`",
    "?": "a choice is `if P then a else b`",
    "|": "write `or`; the number of elements is `.size`; `.` comes after the variables of a quantifier",
    "&": "write `and`",
    "∪": "write `for x in b: a.add(x)`; one element is added by `a.add(x)`",
    "∩": "write `for x in a: ...`, with `.remove(x)`",
    "⊆": "write `forall x in a. x in b`",
    "^": "there are no powers; numbers take `+`, `-` and `*`",
    "'": "names have no primes: write `m2`; what `x` becomes is `x := e`",
    "′": "names have no primes: write `m2`; what `x` becomes is `x := e`",
    "`": "names stand without quotes",
    "$": "names are made of ASCII letters, digits and `_`",
}
"""Characters that the language does not use."""


def hint(table: dict[str, str], word: str) -> tuple[str, ...]:
    """The note on a word, if the table has one."""
    found = table.get(word.casefold())
    return () if found is None else (found,)
