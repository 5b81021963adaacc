"""Code that finds the first state of each kind; see `sieve`."""

from __future__ import annotations

from thence.proofs.native.code.assembly import POINTER, VOID
from thence.proofs.native.code.cells import HOLE, Job, Shared
from thence.proofs.native.code.emit import Value, define
from thence.proofs.native.code.hashing import hash_of
from thence.proofs.native.code.packed import Packed
from thence.proofs.native.layout import Layout


def define_sift(module: Value, layout: Layout) -> None:
    """sift(shared, job): the first of each kind among the states from START to END.

    States with equal bits of MASKS are of one kind. With QUIET, only states with nothing in flight are considered;
    where it is 1, only those with something undelivered. TABLE is the index of the known kinds; their first states are
    appended to KNOWN, and their bits to ROWS. With REFILL, the known kinds from START to END are entered
    into an empty table.
    """
    emit = define(module, "sift", [POINTER, POINTER], VOID, internal=False)
    shared, job = emit.function.args
    builder, width = emit.builder, layout.words
    states, parents = emit.pointer(shared, Shared.STATES), emit.pointer(shared, Shared.PARENTS)
    table, mask, masks = emit.pointer(job, Job.TABLE), emit.load(job, Job.TABLE_MASK), emit.pointer(job, Job.MASKS)
    known, rows, quiet = emit.pointer(job, Job.KNOWN), emit.pointer(job, Job.ROWS), emit.load(job, Job.QUIET)
    refilling = emit.nonzero(emit.load(job, Job.REFILL))
    source = builder.select(refilling, rows, states)
    with emit.each(emit.load(job, Job.START), emit.load(job, Job.END)) as current:
        row = emit.place(source, emit.mul(current, width))
        state = Packed(emit, layout, row)
        due = builder.or_(builder.not_(state.nothing("due")), emit.compare(quiet, "==", 2))
        wanted = builder.or_(builder.and_(state.nothing("network"), due), emit.compare(quiet, "==", 0))
        there = emit.compare(emit.load32(parents, current), "!=", HOLE)
        with emit.when(builder.or_(refilling, builder.and_(wanted, there))):
            words = [emit.both(emit.load(row, at), emit.load(masks, at)) for at in range(width)]
            place, seen, occupied = emit.reserve(1), emit.reserve(1), emit.reserve(1)
            emit.store(emit.both(hash_of(emit, words), mask), place)
            emit.store(0, seen)

            def searching() -> Value:
                emit.store(emit.load32(table, emit.load(place)), occupied)
                return builder.and_(emit.nonzero(emit.load(occupied)), emit.compare(emit.load(seen), "==", 0))

            with emit.repeat(searching):
                other = emit.place(rows, emit.mul(emit.sub(emit.load(occupied), 1), width))
                difference: Value = emit.number(0)
                for at, word in enumerate(words):
                    difference = emit.either(difference, emit.differing(word, emit.load(other, at)))
                emit.store(emit.word_of_truth(emit.compare(difference, "==", 0)), seen)
                following = emit.both(emit.add(emit.load(place), 1), mask)
                emit.store(emit.select(emit.nonzero(emit.load(seen)), emit.load(place), following), place)
            with emit.when(emit.compare(emit.load(seen), "==", 0)):
                count = emit.load(job, Job.KNOWN_COUNT)
                emit.store32(emit.add(builder.select(refilling, current, count), 1), table, emit.load(place))
                with emit.when(builder.not_(refilling)):
                    emit.store32(current, known, count)
                    target = emit.place(rows, emit.mul(count, width))
                    for at, word in enumerate(words):
                        emit.store(word, target, at)
                    emit.store(emit.add(count, 1), job, Job.KNOWN_COUNT)
    emit.give()
