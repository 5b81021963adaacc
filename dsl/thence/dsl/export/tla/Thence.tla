------------------------------- MODULE Thence -------------------------------
(* What every protocol exported from Thence uses: its values, its network, and the observer of causality. *)
EXTENDS Naturals, Sequences, FiniteSets, TLC

Fault(reason) == Assert(FALSE, reason)
HasValue(x) == x = x  (* TLC evaluates it, so that a fault in what nothing uses is found *)

(* nat *)
Minus(a, b) == IF a < b /\ Fault("a nat goes below zero") THEN 0 ELSE a - b
SumOf(f) ==
  LET RECURSIVE Of(_)
      Of(S) == IF S = {} THEN 0 ELSE LET x == CHOOSE x \in S : TRUE IN f[x] + Of(S \ {x})
  IN Of(DOMAIN f)
Max(a, b) == IF a < b THEN b ELSE a
Min(a, b) == IF a < b THEN a ELSE b

(* option: <<>> or <<value>> *)
ValueOf(o) == IF o = <<>> /\ Fault("value of none") THEN 0 ELSE o[1]

(* queue: a sequence, the head first *)
First(q) == IF q = <<>> /\ Fault("first of an empty queue") THEN 0 ELSE Head(q)
Rest(q) == IF q = <<>> /\ Fault("pop of an empty queue") THEN <<>> ELSE Tail(q)
Range(q) == {q[i] : i \in DOMAIN q}
RemoveFirst(q, x) ==
  IF x \notin Range(q) THEN q
  ELSE LET at == CHOOSE i \in DOMAIN q : q[i] = x /\ \A j \in 1..(i - 1) : q[j] /= x
       IN  SubSeq(q, 1, at - 1) \o SubSeq(q, at + 1, Len(q))
SetItem(q, i, x) == IF i > Len(q) /\ Fault("an element is used that the queue no longer has") THEN q ELSE [q EXCEPT ![i] = x]
Item(q, i) == IF i > Len(q) /\ Fault("an element is used that the queue no longer has") THEN 0 ELSE q[i]

(* map: a function on the keys whose value is not the zero of its type *)
EmptyMap == [key \in {} |-> 0]
Get(m, key, zero) == IF key \in DOMAIN m THEN m[key] ELSE zero
GetOrFault(m, key) == IF key \notin DOMAIN m /\ Fault("a map is read at a key that it does not have") THEN 0 ELSE m[key]
Without(m, key) == [k \in (DOMAIN m) \ {key} |-> m[k]]
With(m, key, value) == [k \in (DOMAIN m) \cup {key} |-> IF k = key THEN value ELSE m[k]]
Put(m, key, value, zero) == IF value = zero THEN Without(m, key) ELSE With(m, key, value)

(* sliding array: the items at indices first, first + 1, ... *)
Window(index) == [first |-> index, items |-> <<>>]
NextIndex(a) == a.first + Len(a.items)
Inside(a, index) == a.first <= index /\ index < NextIndex(a)
At(a, index) == IF ~Inside(a, index) /\ Fault("an index is outside the window") THEN 0 ELSE a.items[index - a.first + 1]
SetAt(a, index, x) ==
  IF ~Inside(a, index) /\ Fault("an index is outside the window") THEN a ELSE [a EXCEPT !.items[index - a.first + 1] = x]
Peek(a) == IF a.items = <<>> /\ Fault("peek of an empty sliding array") THEN 0 ELSE Head(a.items)
AddItem(a, x) == [a EXCEPT !.items = Append(@, x)]
DropFirst(a) ==
  IF a.items = <<>> /\ Fault("remove from an empty sliding array") THEN a
  ELSE [first |-> a.first + 1, items |-> Tail(a.items)]
ClearArray(a) == [first |-> NextIndex(a), items |-> <<>>]

(* sliding map: [index, item] records by ascending index, all below next *)
KeyWindow(index) == [next |-> index, entries |-> <<>>]
FirstKey(m) == IF m.entries = <<>> THEN m.next ELSE Head(m.entries).index
ItemsOf(m) == [i \in DOMAIN m.entries |-> m.entries[i].item]
AddKey(m, x) ==
  IF x \in Range(ItemsOf(m)) THEN m
  ELSE [next |-> m.next + 1, entries |-> Append(m.entries, [index |-> m.next, item |-> x])]
Differs(x, entry) == entry.item /= x
RemoveKey(m, x) == IF ~HasValue(x) THEN m ELSE [m EXCEPT !.entries = SelectSeq(@, LAMBDA entry : Differs(x, entry))]
ClearKeys(m) == [m EXCEPT !.entries = <<>>]

(* the elements of a set in ascending order: processes and nats, and messages by sender and number *)
RECURSIVE Ascending(_)
Ascending(S) ==
  IF S = {} THEN <<>>
  ELSE LET least == CHOOSE x \in S : \A y \in S : x <= y
       IN  <<least>> \o Ascending(S \ {least})
NotAfter(a, b) == a.src < b.src \/ (a.src = b.src /\ a.number <= b.number)
RECURSIVE AscendingMessages(_)
AscendingMessages(S) ==
  IF S = {} THEN <<>>
  ELSE LET least == CHOOSE x \in S : \A y \in S : NotAfter(x, y)
       IN  <<least>> \o AscendingMessages(S \ {least})
TheOnly(S) == CHOOSE x \in S : TRUE

(* a reordering network: a bag of packets; a FIFO network: a sequence for each channel that holds packets *)
Count(bag, p) == Get(bag, p, 0)
Plus(bag, p) == With(bag, p, Count(bag, p) + 1)
Less(bag, p) == Put(bag, p, Count(bag, p) - 1, 0)
Channel(p) == <<p.src, p.dst>>
Enqueue(channels, p) == With(channels, Channel(p), Append(Get(channels, Channel(p), <<>>), p))
Dequeue(channels, p) == Put(channels, Channel(p), Tail(channels[Channel(p)]), <<>>)
Heads(channels) == {Head(channels[c]) : c \in DOMAIN channels}

(* The observer. pasts[p]: the undelivered messages in the causal past of p. pending[m]: to whom m is still due,
   and the undelivered messages in its causal past. Delivered messages are forgotten: no check asks for them. *)
Observed(pasts, pending, violated) == [pasts |-> pasts, pending |-> pending, violated |-> violated]

SeesSend(o, p, m) ==
  IF m.dsts = {} THEN o
  ELSE [o EXCEPT !.pasts[p] = @ \cup {m}, !.pending = With(@, m, [due |-> m.dsts, past |-> o.pasts[p]])]

SeesNetworkSend(o, p, m) ==
  IF m \notin DOMAIN o.pending THEN o
  ELSE LET before == {a \in DOMAIN o.pending : a \in o.pending[m].past /\ a.src /= p}
           elsewhere == {a \in before : o.pending[a].due \ {p} /= {} /\ m.dsts \ {a.src} /= {}}
       IN  [o EXCEPT !.violated = @ \cup (IF before /= {} THEN {"csps"} ELSE {})
                                    \cup (IF elsewhere /= {} THEN {"sps"} ELSE {})]

SeesDelivery(o, p, m) ==
  IF m \notin DOMAIN o.pending \/ p \notin Get(o.pending, m, [due |-> {}, past |-> {}]).due
  THEN [o EXCEPT !.violated = @ \cup {IF p \in m.dsts THEN "at_most_once" ELSE "no_creation"}]
  ELSE LET entry == o.pending[m]
           missed == {a \in (DOMAIN o.pending) \ {m} : p \in o.pending[a].due /\ a \in entry.past}
           wrong == (IF missed /= {} THEN {"causal"} ELSE {})
                    \cup (IF \E a \in missed : a.src = m.src THEN {"fifo"} ELSE {})
           pasts == [o.pasts EXCEPT ![p] = @ \cup entry.past \cup {m}]
           due == entry.due \ {p}
       IN  IF due /= {}
           THEN Observed(pasts, [o.pending EXCEPT ![m].due = due], o.violated \cup wrong)
           ELSE Observed([q \in DOMAIN pasts |-> pasts[q] \ {m}],
                         [a \in (DOMAIN o.pending) \ {m} |-> [o.pending[a] EXCEPT !.past = @ \ {m}]],
                         o.violated \cup wrong)
=============================================================================
