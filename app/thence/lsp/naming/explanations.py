"""One explanation for each keyword of the grammar and for each name that the language brings."""

from __future__ import annotations

KEYWORDS: dict[str, str] = {
    # declarations
    "theory": "`theory NAME:` declares sorts, functions, relations, axioms and properties of executions.",
    "theorem": "`theorem NAME in THEORY:` states that the properties under `assume` imply those under `prove`.",
    "machine": "`machine NAME:` declares state over any number of processes and messages, its transitions, and what is "
    "proved of it.",
    "protocol": "`protocol NAME:` is the algorithm as published: packets, the state of a process, handlers, "
    "properties.",
    "scope": "`scope NAME of PROTOCOL:` is a finite workload. `thence explore` covers every execution in it.",
    "conforms": "`conforms PROTOCOL to MACHINE in SCOPE:` is a link: every event of the protocol is a transition of "
    "the machine.",
    "change": "`change on receive KIND: EDITS` in a mutant edits single statements of a part of the subject.",
    "replace": "`replace S by: BODY` in a mutant; `replace if P by if Q` changes the header of a statement only.",
    "drop": "`drop S` in a mutant: the statement is left out.",
    "inside": "`inside HEADER: EDITS` in a mutant: edits of the statements in its body.",
    "after": "`after S: BODY` in a mutant: the body stands behind the statement.",
    "before": "`before S: BODY` in a mutant: the body stands before the statement.",
    "mutant": "`mutant NAME of SUBJECT:` restates parts of a protocol or machine, and says what is expected to break.",
    "scenario": "`scenario NAME of PROTOCOL:` is one execution, step by step, with what is true on the way.",
    # parts of theories and machines
    "sort": "`sort process, message` declares sets of things without structure.",
    "ordered": "`sort round ordered` gives the sort a strict total order `<`. In machines, processes may have one.",
    "function": "`function f(m: message): nat` has one value for each argument.",
    "relation": "`relation r(m: message, p: process)` is true of some tuples.",
    "constant": "`constant relation ...` and `constant function ...` of a machine never change, and a proof is about "
    "all their values. `constant quorum: nat = 2` of a protocol has this value unless a scope gives another one.",
    "axiom": "`axiom NAME: P` is assumed to be true.",
    "inductive": "`inductive r(a, b):` declares the least relation that is closed under its rules.",
    "property": "In a theory, `property NAME: P` names a formula. In a protocol, `property causal, ...` names what "
    "every scope is judged by.",
    "assume": "`assume NAME, ...`: the properties that a theorem starts from.",
    "prove": "`prove NAME, ...`: the properties that are to be proved.",
    "use": "`use NAME, ...`: theorems that stand before this one, as lemmas. Their own obligations are among its own.",
    "needs": "`needs NAME, ...`: without this assumption the theorem is false. A countermodel must be found.",
    "by": "`by induction on r(a, b) claim: P`. In a machine, `by:` and the steps that bring about what is "
    "eventually so, each `T(x) for x while P`.",
    "induction": "`by induction on r(a, b) claim: P` proves P for all pairs of the inductive relation r. "
    "`by induction:` with lines `on r(a, b) claim: P` proves claims of several relations together.",
    "claim": "`claim: P` is what the induction proves. Several claims, `claim NAME: P`, are proved together.",
    "initial": "`initial:` gives relations and functions of a machine their first values, by what never changes. "
    "Without it a relation is false at first, and a function zero.",
    "transition": "`transition NAME(m):` is one atomic step of a machine: `require`s and updates, which all read the "
    "state before it.",
    "require": "`require P`: the transition happens only in states in which P is true.",
    "invariant": "`invariant NAME: P`: P is true in every reachable state. In a protocol, `X@p` is the X of process p.",
    "stable": "`stable NAME: P`: once P is true it stays true.",
    "reachable": "`reachable NAME: P`: some run leads to a state in which P is true.",
    "without": "`prove without deadlock`, `prove without starvation T`",
    "deadlock": "`prove without deadlock`: where nothing but a send can happen, every sent message is delivered.",
    "starvation": "`prove without starvation T`: what a message waits for until transition T only shrinks.",
    # parts of protocols
    "delivery": "`delivery unicast`, `multicast` or `broadcast`: how many destinations a message has.",
    "network": "`network reliable, reordering`: what channels may do. In a scenario, `network loses ...` is a step.",
    "message": "`message KIND(m: message) carries m` declares a packet kind. As a type, `message` is an application "
    "message with `m.src`, `m.dst` and `m.dsts`.",
    "carries": "`carries m`: the packet moves the application message m.",
    "record": "`record NAME: a: T; b: U` declares a type with named fields.",
    "state": "`state:` declares the variables of each process.",
    "on": "`on causal_send(m):`, `on receive KIND(...) from j:` and `on INPUT(k: nat):` are handlers, one atomic step "
    "each.",
    "causal_send": "`on causal_send(m):` is run when the application sends m. In a machine and a link, it is the "
    "transition of that event.",
    "receive": "`on receive KIND(...) from j:` is run when such a packet arrives.",
    "when": "`on causal_send(m) when P:` lets the application wait until P is true. In a link, `when P` limits a "
    "clause. `invariant NAME: when p delivers m: P`: P is true right after each such step.",
    "delivers": "`invariant NAME: when p delivers m: P`: P is true right after each step in which p delivers m.",
    "periodically": "`periodically:` is run when the timer of a process fires; `periodically NAME:` is one of several.",
    "role": "`role coordinator: process = 0` is a process that all processes know; a scope may give it to another one.",
    "def": "`def f(m: message): e` names an expression: `f(x)` stands for e with x for m.",
    "procedure": "`procedure p(a: nat):` names statements that handlers call.",
    "eventually": "`eventually delivered under fair receive`: every fair run delivers every message. "
    "`eventually NAME: P`: in every fair run P is true at some time; `P leads to Q`: whenever P is true, Q is "
    "true then or later.",
    "leads": "`eventually NAME: P leads to Q`: in every fair run, whenever P is true, Q is true then or later.",
    "at": "`at rest NAME: P`: P is true in every state in which nothing has to happen any more: no packet is in "
    "flight, no timer changes anything, and the application can do nothing that is fair.",
    "flight": "`forall KIND(a, b) from p to q in flight. P`: P is true of each such packet that is on its way.",
    "ahead": "`forall A(x) in flight. exists B(y) in flight ahead. P`: such a B is on the channel of A, and arrives "
    "before it. `forall y in QUEUE. exists x ahead. P`: such an x is in the queue before y.",
    "rest": "`at rest NAME: P`: P is true in every state in which nothing has to happen any more: no packet is in "
    "flight, no timer changes anything, and the application can do nothing that is fair.",
    "between": "`between steps NAME: P`, in a link: P is true between two steps of the protocol; it need not be at the "
    "head of a loop inside a step.",
    "steps": "`between steps NAME: P`, in a link: P is true between two steps of the protocol; it need not be at the "
    "head of a loop inside a step.",
    "under": "`under fair receive, periodically` says which steps are fair.",
    "fair": "A packet kind is fair if each of its packets arrives in the end.",
    "weakly": "`under weakly fair ...`: what can always happen from some moment on happens.",
    # statements
    "let": "`let x = e` names a value to the end of the block.",
    "var": "`var x = e` is a variable of the handler, to the end of the block: `x := e`, `x.add(e)` change it.",
    "ref": "`ref x = place` is another name for a place; `for ref x in place` names each element in place.",
    "if": "`if P:` with `else if` and `else:`; in an expression, `if P then a else b`.",
    "then": "`if P then a else b`",
    "else": "`else:` follows the block of an `if`.",
    "while": "`while P:` repeats its block. A loop that does not end is a fault.",
    "choose": "`choose x in S such that P: ...` takes an element of which P is true. Every choice is explored.",
    "that": "`choose x in S such that P: ...`: only elements of which P is true may be chosen.",
    "such": "`choose x in S such that P: ...`: only elements of which P is true may be chosen.",
    "either": "`either: ...`, then `or: ...`: one of the branches, whichever. Every one is explored.",
    "for": "`for x in e:` goes through a collection or through `process`. In a scope, `for ever` lets processes "
    "send for ever.",
    "return": "`return` ends the handler or procedure.",
    "pass": "`pass` does nothing.",
    "send": "`send KIND(...) to p` puts a packet into the network. In a program, `send to p` is a causal send.",
    "deliver": "`deliver m` hands the message to the application. In a machine and a link, it is the transition of "
    "that event.",
    # expressions and types
    "and": "Both are true.",
    "or": "One of them is true, or both. In a link, the machine takes the first transition that is enabled.",
    "not": "The operand is false.",
    "implies": "If the left side is true, so is the right side.",
    "iff": "Both sides are true, or both are false.",
    "forall": "`forall x: T. P`: P is true of every x.",
    "exists": "`exists x in e. P`: P is true of some x.",
    "sum": "`sum x: T. e`: the sum of e for all x.",
    "count": "`count x: T. P`: for how many x P is true.",
    "in": "`x in e`: x is an element of e, or a key of it. `expect ... in SCOPE` names a scope.",
    "is": "`e is empty`, `e is none`, `e is not ...`. In a link, `EVENT is TRANSITION(...)`.",
    "true": "The truth value.",
    "false": "The truth value; what a `bool` starts as.",
    "none": "The absent value of an option. `to none` is the empty set of destinations.",
    "empty": "The empty collection.",
    "self": "The process that takes the step. In a scope, `self sends` lets processes send to themselves.",
    "process": "The type of processes. `for p in process` goes through all of them.",
    "option": "`option of T`: `none` or `some(e)`; `.value` where it is not `none`.",
    "set": "`set of T`: `add`, `remove`, `clear`; `{a, b}`, `empty`.",
    "queue": "`queue of T`: `push`, `pop`, `remove(e)`, `clear`; `.first` is the oldest.",
    "map": "`map K to V`: `M[k]`. A key that is not mapped reads as what V starts as.",
    "sliding": "`sliding array of T` and `sliding map of T` are windows over numbered elements.",
    "array": "`sliding array of T`: `.first`, `.next` (indices), `.peek` (the oldest), `a[i]`, `add(e)`, `remove()`.",
    "of": "`set of T`; `scope NAME of PROTOCOL`.",
    "to": "`map K to V`; `send KIND(...) to p`; `conforms PROTOCOL to MACHINE`.",
    "from": "`on receive KIND(...) from j`: j is the process that sent the packet.",
    # scopes
    "processes": "`processes 3`: how many there are. In a scenario, `processes Alice, Bob` names them.",
    "sends": "`sends 2 per process` or `sends 2, 1, 1`: how many messages each process sends at most.",
    "per": "`sends 2 per process`",
    "destinations": "`destinations 0 to 1, 2; 1 to 0`: to whom each process sends.",
    "duplicates": "`duplicates 1`: at most so many packets are duplicated in a run.",
    "losses": "`losses 1`: at most so many packets are lost in a run.",
    "does": "`p does request(3)`: the application of p has the input `request`.",
    "ticks": "`ticks 1`: how often each timer of each process may fire at any moment; `ticks NAME 1`: this timer. In a "
    "scenario, `p ticks` and `p ticks NAME` are steps.",
    "capacity": "`capacity 2`: who sends for ever does so only while every collection has fewer elements.",
    "prompt": "`prompt sends`: a message is sent only when the protocol network-sends it in the same step.",
    "reactive": "`reactive sends`: in a scope, the application may also send one message inside a delivery; in a link, "
    "it is proved of such applications, too.",
    "fifo": "As a setting: channels keep their order. As a property: messages of one sender are delivered in order.",
    "ever": "`for ever 0, 2`: these processes send for ever.",
    "any": "`any number of messages`: the scope has no bound on them. In a link, `any` is an argument that the machine "
    "finds.",
    "number": "`any number of messages`",
    "messages": "`any number of messages`",
    "tree": "`tree 0 to 1, 2; 2 to 3`: the edges of a tree network.",
    "links": "`links 0 to 1; 1 with 2`: the links of an overlay, in one direction (`to`) or both (`with`). Without "
    "them, each process has a link to each other one.",
    "program": "`program 0: send to 1; receive from 2`: what the application of a process does, in this order.",
    "expect": "`expect refuted causal in SCOPE`: the verdict that is expected. Without it, everything holds.",
    "proved": "True for any number of processes and messages.",
    "holds": "True in every execution of the scope.",
    "refuted": "A counterexample exists, and is shown.",
    "unknown": "Neither shown nor refuted. It is never a success.",
    "with": "`expect ... with processes 3, sends 1`: settings of a scope without a name. `scenario ... with MUTANT` "
    "plays a mutant.",
    # links and scenarios
    "internal": "`internal T, ...`: transitions that the machine takes by itself after each event, as long as its "
    "state changes, for all processes and, unless it has `delivery off`, all messages that were sent.",
    "once": "`once`: a second occurrence with the same arguments is silent.",
    "link": "In a scenario, `link p to q` is an edge of the tree network or a link of the overlay; `link p with q` is "
    "one for both directions. As a name, the link of a protocol to its machine.",
    "receives": "`p receives KIND(...) from q`: such a packet arrives.",
    "cannot": "`p cannot receive KIND(...) from q`: no such packet can arrive now.",
    "loses": "`network loses KIND(...) from p to q`",
    "assert": "`assert P`: P is true of the state that the steps have led to.",
}  # fmt: skip
"""For each word to which the grammar gives a meaning: its meaning, in one or two sentences."""

BUILT_IN: dict[str, str] = {
    # types and functions
    "bool": "`true` or `false`; starts as `false`.",
    "nat": "A natural number; starts as 0. A step that takes it below zero is a fault of the protocol.",
    "process": KEYWORDS["process"],
    "message": "An application message: `m.src`, `m.dst`, `m.dsts`.",
    "self": "The process that takes the step.",
    "max": "`max(a, b)`: the greater of two numbers.",
    "min": "`min(a, b)`: the smaller of two numbers.",
    "some": "`some(e)`: the option that holds e.",
    "window": "`window(1)`: the empty sliding array or map whose first index is 1.",
    "sent_by": "`sent_by(p, n)`: the n-th message that p causal-sent.",
    # fields and operations
    ".src": "The process that sends the message.",
    ".dst": "The process to which the message goes.",
    ".dsts": "The processes to which the message goes.",
    ".size": "How many elements there are.",
    ".first": "Of a queue, the oldest element. Of a sliding array or map, the first index.",
    ".next": "The index that the next element gets.",
    ".peek": "The oldest element.",
    ".value": "The value in an option. Reading it from `none` is a fault.",
    ".push()": "`q.push(e)` puts a copy of e at the end.",
    ".pop()": "`q.pop()` takes the oldest element away. On an empty queue it is a fault.",
    ".add()": "Of a set, `s.add(e)`. Of a sliding array, `a.add(e)` at the next index. Of a sliding map, an index.",
    ".remove()": "`remove(e)` takes an element or key away; of a sliding array, `remove()` takes the oldest.",
    ".clear()": "Takes everything away.",
    # history
    "src": "`src(m)`: the process that sends m.",
    "dst": "`dst(m)`: the process to which m goes.",
    "to": "`to(m, p)`: m goes to p.",
    "sent": "`sent(m)`: m has been causal-sent.",
    "delivered": "`delivered(m)`: m has been delivered (in multicast, `delivered(m, p)` at p). As a property: in every "
    "fair run each sent message is delivered to each of its destinations.",
    "delivered_at": "`delivered_at(m, p)`: p has delivered m.",
    "before": "`before(a, b)`: one process sent a before b.",
    "past": "`past(p, m)`: m is in the causal past of p.",
    "hb": "`hb(a, b)`: the send of a happened before the send of b.",
    "delivered_before": "`delivered_before(a, b)`: a was delivered before b at their destination.",
    "network_sent": "`network_sent(m)`: a packet that carries m was sent.",
    "arrived": "`arrived(m, p)`: a packet that carries m was received by p.",
    "neighbors": "The neighbors of the process in the tree network; in an overlay, the processes to which it has a "
    "link.",
    "next_hop": "`next_hop[p]`: the neighbor on the way to p.",
    # properties
    "causal": "No message is delivered while another one to the same process, which happened before it, is not.",
    "fifo": "Messages of one sender to one process are delivered in the order of their sends.",
    "causally_ordered": "Of two messages that one process delivers, the one that happened before is delivered first.",
    "csps": "At each network send, what happened before it and was sent by others is delivered (Almeida, Definition "
    "4.3).",
    "sps": "As `csps`, but for messages to this sender and from the destination (Almeida, Definition 4.1).",
    "total_order": "No two processes deliver two messages in different orders.",
    "at_most_once": "No message is delivered twice at one process.",
    "no_creation": "Nothing is delivered that was not sent there.",
    "deadlock_free": "A run does not end while the application has something left to send, or is inside a program.",
    "completes": "Some run brings all programs to their end.",
    "fault": "No step does what has no meaning: a number below zero, the first of nothing, a loop without end.",
    "link": "The link of the protocol to its machine.",
    "history": "The facts about sends and deliveries that every machine keeps.",
    "vacuity": "Every transition of the machine happens in some run.",
    "without deadlock": KEYWORDS["deadlock"],
    # words of lines
    "unicast": "Every message has one destination.",
    "multicast": "Every message has a set of destinations.",
    "broadcast": "Every message goes to all other processes.",
    "off": "In a machine: no messages, no history, and no transition that must be there.",
    "reliable": "Packets are not lost.",
    "lossy": "Packets may be lost: as many as a scope says.",
    "duplicating": "Packets may arrive twice: as often as a scope says.",
    "reordering": "Packets may overtake one another.",
    "tree": "Packets go between neighbors in a tree of the processes only.",
    "overlay": "Packets go by the links of the scope only; a packet to another process is a fault.",
    "receive": "As a fairness: every packet.",
    "periodically": "As a fairness: every timer. They are fair in any case, unless some are named.",
    "causal_send": "As a fairness: the application sends again and again while it may.",
}  # fmt: skip
"""For each name that the language brings, its meaning; fields and operations begin with a dot."""

MARKERS: dict[str, str] = {
    "←": "Assigns; also written `:=`.",
    ":=": "Assigns a value to a place. In a machine, an update: its right side reads the state before the step.",
    "...": "The packet's other parameters, which are left unnamed.",
    "@": "`X@p`: the X of process p, in invariants and assertions.",
}
"""Symbols whose meaning is not known from elsewhere."""
