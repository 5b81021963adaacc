"""Universes that the axioms of a machine allow: those asked for, or the nearest ones; and uneven ones."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from thence.dsl import ir
from thence.dsl.load import load_bytes
from thence.proofs.machine.universe import MORE, Fitting, distinct, uneven, universe_of
from thence.proofs.prove import solver_pool
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.session import ProofSession

LETTERS = "abcdef"


def at_most(sort: str, number: int) -> str:
    names = LETTERS[: number + 1]
    alike = [f"{one} = {other}" for at, one in enumerate(names) for other in names[:at]]
    return f"  axiom most_{sort}: forall {', '.join(names)}: {sort}. {' or '.join(alike)}\n"


def at_least(sort: str, number: int) -> str:
    names = LETTERS[:number]
    apart = [f"{one} != {other}" for at, one in enumerate(names) for other in names[:at]]
    return f"  axiom least_{sort}: exists {', '.join(names)}: {sort}. {' and '.join(apart)}\n"


def machine_of(axioms: str) -> ir.Machine:
    text = f"""machine lamps:
  delivery off
  sort lamp, room
  relation on(l: lamp, r: room)
{axioms}  transition switch(l: lamp, r: room): on(l, r) := not on(l, r)
  reachable some: exists l, r. on(l, r)
"""
    specification = load_bytes(Path("lamps.thence"), text.encode()).specification
    assert specification is not None
    return specification.machines[0]


def fitted(axioms: str, size: dict[str, int]) -> dict[str, int]:
    options = Options(workers=1)
    with solver_pool(options) as pool:
        return dict(Fitting(ProofSession(pool, options), machine_of(axioms))(size))


SIZE = {"process": 2, "message": 3}
BOUNDS = [(1, 6), (1, 2), (1, 1), (2, 2), (4, 6), (5, 6), (5, 5)]


@pytest.mark.parametrize(("lamps", "rooms"), list(product(BOUNDS, BOUNDS))[::3])
def test_the_nearest_universe_that_the_axioms_allow(lamps: tuple[int, int], rooms: tuple[int, int]) -> None:
    axioms = ""
    for sort, (least, most) in (("lamp", lamps), ("room", rooms)):
        axioms += (at_least(sort, least) if least > 1 else "") + (at_most(sort, most) if most < 6 else "")
    nearest = {sort: min(max(3, least), most) for sort, (least, most) in (("lamp", lamps), ("room", rooms))}
    found = universe_of(machine_of(axioms), fitted(axioms, SIZE))
    assert {sort: found[sort] for sort in nearest} == nearest and found["process"] == SIZE["process"]


def test_what_no_universe_allows_stays_as_it_is() -> None:
    assert fitted(at_least("lamp", 3) + at_most("lamp", 2), SIZE) == SIZE
    assert fitted(at_least("lamp", 3 + MORE + 1), SIZE) == SIZE


def test_uneven_universes_have_many_of_one_sort_or_few() -> None:
    found = [(size["lamp"], size["room"]) for size in uneven(machine_of(""))]
    assert found == [(4, 2), (2, 3), (2, 4), (3, 2)]


def test_sizes_that_differ_in_nothing_that_is_used_are_one() -> None:
    sizes = [{"process": 2, "message": 3}, {"process": 3, "message": 3}, {"process": 2, "message": 2}]
    assert distinct(machine_of(""), sizes) == (sizes[0], sizes[2])
    assert distinct(machine_of("  axiom many: exists p, q: process. p != q\n"), sizes) == tuple(sizes)
