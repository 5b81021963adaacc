"""Few invariants that are enough, given back, of the machines that `infer.py` does not find with all of them hidden.

    python bench/hints.py ATTEMPTS [--timeout S] [--from NAME,NAME...] [--machine NAME] [FILE...]

Begins with all invariants that `infer.py` hides, or with those named by `--from`, and leaves out one after the other,
each time in a search of its own with a limit of processor time, until every set with one less was tried and not proved.
Each attempt is written to ATTEMPTS, a JSON file, as soon as it is over, and is not made again: the command may be ended
at any moment and given once more. Without files the table of what ATTEMPTS has is printed.

An attempt is known by the text of the file, the machine, the limit and what was given back. That it is not proved is
about the version of the program that made it.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from infer import found_of, machines_of, paths

from thence.dsl import ir
from thence.dsl.find import specification
from thence.proofs.infer.search.inference import INTERRUPTED


@dataclass(frozen=True, slots=True)
class Attempt:
    """A search with some invariants given back, of those that are hidden otherwise; seconds of processors."""

    file: str
    text: str
    machine: str
    limit_s: float
    hidden: tuple[str, ...]
    given: tuple[str, ...]
    proved: bool
    processor_s: float
    found: int
    reason: str


class Attempts:
    """Those in a file."""

    def __init__(self, place: Path) -> None:
        self._place = place
        read = json.loads(place.read_text()) if place.exists() else []
        self.made = [Attempt(**{**each, "hidden": (*each["hidden"],), "given": (*each["given"],)}) for each in read]

    def add(self, attempt: Attempt) -> None:
        self.made.append(attempt)
        draft = self._place.with_suffix(".draft")
        draft.write_text(json.dumps([asdict(each) for each in self.made], indent=1) + "\n")
        draft.replace(self._place)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A machine whose invariants `hidden` are wanted, within a limit."""

    path: Path
    machine: ir.Machine
    hidden: tuple[str, ...]
    limit_s: float
    attempts: Attempts

    def enough(self, given: Collection[str]) -> bool:
        """Whether the machine is proved with these given back; tried, where that is not known."""
        key = tuple(name for name in self.hidden if name in given)
        known = next((each for each in self._own if each.given == key), None)
        if known is None:
            known = self._tried(key)
            self.attempts.add(known)
            print(f"{known.machine}: {'proved' if known.proved else 'not'} with {', '.join(key)}", flush=True)
        return known.proved

    @property
    def _own(self) -> Iterator[Attempt]:
        about = self.path.stem, self._text, self.machine.name, self.limit_s, self.hidden
        for each in self.attempts.made:
            if (each.file, each.text, each.machine, each.limit_s, each.hidden) == about:
                yield each

    @property
    def _text(self) -> str:
        return sha256(self.path.read_bytes()).hexdigest()[:16]

    def _tried(self, given: tuple[str, ...]) -> Attempt:
        before = sum(os.times()[:4])
        found = found_of(self.machine, [name for name in self.hidden if name not in given], self.limit_s)
        if found.reason == INTERRUPTED:
            raise KeyboardInterrupt  # it says nothing
        took = round(sum(os.times()[:4]) - before, 1)
        about = self.path.stem, self._text, self.machine.name, self.limit_s, self.hidden, given
        return Attempt(*about, found.proved, took, len(found.conjuncts), found.reason)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("attempts", type=Path)
    arguments.add_argument("files", nargs="*")
    arguments.add_argument("--timeout", type=float, default=120.0)
    arguments.add_argument("--from", dest="first")
    arguments.add_argument("--machine")
    given = arguments.parse_args()
    attempts = Attempts(given.attempts)
    for path in paths():
        for machine, kept in machines_of(path, specification(str(path))):
            if path.stem in given.files and given.machine in (None, machine.name):
                hidden = tuple(each.name for each in machine.invariants if each.name not in kept)
                first = given.first.split(",") if given.first else hidden
                _fewer(Wanted(path, machine, hidden, given.timeout, attempts), first)
    for line in _table(attempts.made):
        print(line)


def _fewer(wanted: Wanted, first: Sequence[str]) -> None:
    """Leaves out one after the other, until none can be left out."""
    if not wanted.enough(first):
        return
    chosen, shrinks = tuple(first), True
    while shrinks:
        shrinks = False
        for left_out in chosen:
            fewer = tuple(name for name in chosen if name != left_out)
            if wanted.enough(fewer):
                chosen, shrinks = fewer, True


def _table(made: Sequence[Attempt]) -> Iterator[str]:
    """For each machine the smallest set that is enough, and whether each set with one less was tried."""
    for about in dict.fromkeys((each.file, each.text, each.machine, each.limit_s, each.hidden) for each in made):
        own = [each for each in made if (each.file, each.text, each.machine, each.limit_s, each.hidden) == about]
        enough = [each for each in own if each.proved]
        if not enough:
            yield f"{about[0]:24} {about[2]:24} no set that is enough, of {len(own)} tried"
            continue
        best = min(enough, key=lambda each: len(each.given))
        tried = {each.given for each in own}
        less = [tuple(other for other in best.given if other != name) for name in best.given]
        standing = "none can be left out" if all(each in tried for each in less) else "enough"
        row = (
            f"{about[0]:24} {about[2]:24} {len(best.hidden):3} hidden, {len(best.given)} given back, {best.found} found"
        )
        yield f"{row}, {best.processor_s:.0f} s; {standing}, {len(own)} tried: {', '.join(best.given) or 'nothing'}"


if __name__ == "__main__":
    main()
