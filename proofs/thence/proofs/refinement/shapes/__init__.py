"""Values of a protocol as formulas: relations and functions over processes, messages and numbers say what a value is.

A type becomes a shape. A leaf (truth value, number, process, message) is a term. A collection is a function from terms
to formulas, kept as a Python function, so that a changed value is the old one with a case in front of it.

NOTE(absent): a map entry whose value is the zero of its type is no entry (`dsl.run.values`), so a map to a type with a
zero has the keys at which its value is not zero. A map to processes, messages or records says of each key whether it is
there.

NOTE(window): a queue or sliding array is its elements at the numbers first <= i < next. `push` and `add` write at
`next`, `pop` and `remove` raise `first`. Where a queue begins says nothing, so queues are not compared.

NOTE(numbered): a sliding map is its elements at the numbers that it has, all below `next`; `first` is the least of
them, and `next` where there are none. No element has two numbers.

NOTE(bag): a set of values that hold collections is a bag of groups. The values of such a type are elements of a sort of
their own, and symbols that no step changes say what each is; a set that a variable has at first is a relation on them.
What a step adds is a group of one more. So a member may be there more than once, which changes the value of no formula
but a count, and counts are refused.
"""
