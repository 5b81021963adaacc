"""README.md and citation.bib of a closed set, made from the claim."""

from __future__ import annotations

from thence.dsl.ir.properties import FAULT
from thence.proofs.closed.claim import FORMAT, Claim


def readme(claim: Claim, source: bytes) -> str:
    """The text, in Markdown."""
    rows = "\n".join(f"| {_said(name)} | holds | L1 | `{claim.id(name, source)}` |" for name in claim.properties)
    left = "\n".join(f"- {name}: {why}" for name, why in claim.omitted)
    besides = f"What {claim.subject} states besides, and **this folder says nothing about**:\n\n{left}\n"
    settings = "\n".join(f"    {line}" for line in claim.settings)
    return f"""# A closed set of states ({FORMAT})

What Thence {claim.thence} found out about {claim.subject} in `{claim.source}`, in this scope:

{settings}

| property | verdict | level | statement id (SHA-256) |
|---|---|---|---|
{rows}

{besides if left else f"{claim.subject} states nothing else."}
Of other scopes, and of other declarations of the text, this folder says nothing.
{_CHECKING}"""


def citation(claim: Claim, source: bytes) -> str:
    """A BibTeX entry for every statement."""
    return "\n".join(_entry(claim, name, claim.id(name, source)) for name in claim.properties)


def _entry(claim: Claim, name: str, id_: str) -> str:
    settings = "; ".join(claim.settings)
    title = f"Machine-checked: {_plain(_said(name))} of {_plain(claim.subject)} holds in a finite scope"
    return f"""@misc{{thence-{id_[:12]},
  author = {{{{The authors of {_plain(claim.source.removeprefix("sources/"))}}}}},
  title = {{{{{title}}}}},
  howpublished = {{Closed set of states, Thence {_plain(claim.thence)}, format {FORMAT}}},
  note = {{Statement sha256:{id_}; scope: {_plain(settings)}; {claim.states:,} states, level L1}},
}}
"""


def _said(name: str) -> str:
    return "no fault" if name == FAULT else name


def _plain(text: str) -> str:
    """Text that BibTeX and LaTeX take as it is."""
    special = {"\\": "/", "{": "(", "}": ")", "_": r"\_", "&": r"\&", "%": r"\%", "#": r"\#", "$": r"\$"}
    return "".join(special.get(character, character) for character in text)


_CHECKING = """
`thence recheck DIRECTORY` checks it, with the interpreter of the language and without any search: the initial state is
in the set, every step that the scope allows leads from a state of the set to one of the set, and none violates what is
claimed. The set has the states of `states.jsonl.gz` under each renaming of `claim.json`.

Each line of these files (JSON, compressed by gzip) is one entry; lines are numbered from 0.

- `local_states.jsonl.gz`: the variables of a process, in the order of the text.
- `packets.jsonl.gz`: `[kind, from, to, [argument, ...]]`.
- `states.jsonl.gz`: a list of
  1. the local state of each process, by its line;
  2. the packets in flight, by their lines; on FIFO channels in sending order;
  3. for each process, the messages in its causal past that somebody has still to deliver. Messages have numbers: first
     come those of process 0, in sending order, then those of process 1, and so on;
  4. each of these messages, `[[sender, number, [destination, ...]], [who has still to deliver it, ...], [past, ...]]`;
  5. for each process, how many messages it has sent;
  6. how often each timer and input has come that the scope counts, by process;
  7. how many packets were duplicated; 8. how many were lost;
  9. for each process, its place in its program, if there are programs;
  10. for `total_order`: pairs of messages that some process delivered in this order, and another one may not;
  11. for `causally_ordered`: messages with the process that has still to deliver them, and is late.

A message is `[sender, number, [destination, ...]]`; an option `[]` or `[value]`; a set is ascending; a map is a list of
pairs, ascending by key; a sliding array is `[first, [value, ...]]`, a sliding map `[next, [[index, value], ...]]`; a
record is the list of its fields.
"""
