"""The fast judgement of finished executions, held against the oracle and against happens-before spelled out."""

from __future__ import annotations

import time
from itertools import pairwise
from random import Random

import pytest

from thence.spec.events import Deliver, Event, Execution, Receive, Send
from thence.spec.finished_run import FinishedRun, UnderWay
from thence.spec.happens_before import HappensBefore
from thence.spec.judgement import FEWEST_CHAINS, KEPT_MISSING, judge
from thence.spec.oracle import Finding, Oracle


def random_execution(random: Random, most: int = 120) -> Execution:
    """Sends and deliveries in any order, some of them again, some of them where they do not belong."""
    processes = random.randint(1, random.choice((3, 6, 33)))
    strangers, disorder = random.choice((0.0, 0.05)), random.random()
    events: list[Event] = []
    waiting: list[list[str]] = [[] for _ in range(processes)]
    for number in range(random.randrange(most)):
        process = random.randrange(processes)
        sent = [event.message for event in events if isinstance(event, Send)]
        if sent and random.random() < strangers:
            events.append(Deliver(process, random.choice(sent)))
        elif waiting[process] and random.random() < 0.55:
            at = random.randrange(len(waiting[process])) if random.random() < disorder else 0
            message = waiting[process].pop(at)
            if random.random() < 0.1:
                events.append(Receive(process, message, 0))
            events.append(Deliver(process, message))
        else:
            to = tuple(random.randrange(processes) for _ in range(random.randrange(4)))
            events.append(Send(process, f"m{number}", to))
            for destination in set(to):
                waiting[destination].append(f"m{number}")
    return Execution(processes, tuple(events))


def closure(execution: Execution) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The direct steps of happens-before between messages, and the relation, by the definition."""
    before: list[list[str]] = [[] for _ in range(execution.processes)]
    direct: set[tuple[str, str]] = set()
    past: dict[str, set[str]] = {}
    for event in execution.events:
        if isinstance(event, Send):
            direct |= {(earlier, event.message) for earlier in before[event.process]}
            past[event.message] = set().union(*({one} | past[one] for one in before[event.process]))
        if not isinstance(event, Receive):
            before[event.process].append(event.message)
    return direct, {(earlier, later) for later, all_earlier in past.items() for earlier in all_earlier}


def sent_there(execution: Execution) -> Execution:
    """The execution without deliveries of messages that were not sent there, which change nothing."""
    sends = {event.message: event for event in execution.events if isinstance(event, Send)}
    kept = (e for e in execution.events if not isinstance(e, Deliver) or e.process in sends[e.message].destinations)
    return Execution(execution.processes, tuple(kept))


def check_against_the_oracle(execution: Execution) -> None:
    """What the oracle finds online, parted by whether the missing message comes later, is what the judgement says."""
    oracle = Oracle(execution.processes)
    delivered = {(event.process, event.message) for event in execution.events if isinstance(event, Deliver)}
    expected: dict[str, list[tuple[int, int, str, tuple[str, ...]]]] = {
        kind: [] for kind in ("causal", "gap", "duplicate", "phantom", "fifo")
    }
    for index, event in enumerate(execution.events):
        for found in oracle.observe(event):
            key = (index, found.process, found.message)
            late = tuple(each for each in found.missing if (found.process, each) in delivered)
            never = tuple(each for each in found.missing if (found.process, each) not in delivered)
            if found.kind in ("duplicate", "phantom"):
                expected[found.kind].append((*key, ()))
            if late and found.kind in ("causal", "fifo"):
                expected[found.kind].append((*key, late))
            if never and found.kind == "causal":
                expected["gap"].append((*key, never))
    judgement = judge(execution)

    def shown(findings: tuple[Finding, ...]) -> list[tuple[int, int, str, tuple[str, ...]]]:
        return [(one.event_index, one.process, one.message, one.missing) for one in findings]

    assert shown(judgement.violations) == expected["causal"]
    assert shown(judgement.gaps) == expected["gap"]
    assert shown(judgement.duplicates) == expected["duplicate"]
    assert shown(judgement.phantoms) == expected["phantom"]
    assert judgement.fifo == (not expected["fifo"])
    assert judgement.violating_deliveries == len(expected["causal"])
    assert judgement.violating_pairs == sum(len(missing) for *_, missing in expected["causal"])
    assert judgement.undelivered == oracle.at_quiescence()
    direct, before = closure(sent_there(execution))
    for finding in (*judgement.violations, *judgement.gaps):
        assert {(missing, finding.message) for missing in finding.missing} <= before
        if finding.chain:
            assert (finding.chain[0], finding.chain[-1]) == (finding.missing[0], finding.message)
            assert set(pairwise(finding.chain)) <= direct, "each step of a chain is a direct one"


@pytest.mark.parametrize("seed", range(8))
def test_random_executions_are_judged_as_the_oracle_judges_them(seed: int) -> None:
    random = Random(seed)
    for _ in range(40):
        check_against_the_oracle(random_execution(random))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_random_executions(seed: int) -> None:
    random = Random(seed)
    for _ in range(200):
        check_against_the_oracle(random_execution(random))


def test_counts_are_exact_where_findings_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs so long that lists of awaited messages are trimmed, and of each kind three findings are kept."""
    monkeypatch.setattr("thence.spec.judgement.KEPT", 3)
    random, kept = Random(3), 0
    for _ in range(30):
        execution = random_execution(random, 3_000)
        oracle = Oracle(execution.processes)
        delivered = {(event.process, event.message) for event in execution.events if isinstance(event, Deliver)}
        pairs: list[list[str]] = []
        gaps = 0
        for event in execution.events:
            for found in oracle.observe(event):
                if found.kind == "causal":
                    late = [each for each in found.missing if (found.process, each) in delivered]
                    gaps += len(late) < len(found.missing)
                    pairs += [late] if late else []
        judgement = judge(execution)
        assert judgement.violating_deliveries == len(pairs)
        assert judgement.violating_pairs == sum(map(len, pairs))
        assert judgement.undelivered_count == len(oracle.at_quiescence())
        assert judgement.undelivered == oracle.at_quiescence()[:3]
        assert [list(each.missing) for each in judgement.violations] == pairs[:3]
        assert len(judgement.gaps) == min(3, gaps)
        kept += len(pairs) > 100
    assert kept > 5


@pytest.mark.parametrize("seed", range(6))
def test_what_is_told_changes_nothing_of_what_is_counted(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queues are let go of once nothing is told; counts, and findings of other kinds, are as if all was told."""
    random, let_go = Random(seed), [0, 0]
    plainly, put = FinishedRun._untold, FinishedRun._put

    def counted(run: FinishedRun, overtakers: int, before: int) -> int:
        let_go[0] += overtakers != before
        return plainly(run, overtakers, before)

    def counted_put(run: FinishedRun, record: UnderWay, mask: int) -> None:
        let_go[1] += bool(mask)
        put(run, record, mask)

    monkeypatch.setattr(FinishedRun, "_untold", counted)
    monkeypatch.setattr(FinishedRun, "_put", counted_put)
    for _ in range(40):
        execution, kept = random_execution(random, 400), random.choice((1, 2, 5))
        whole = judge(execution)
        with monkeypatch.context() as patched:
            patched.setattr("thence.spec.judgement.KEPT", kept)
            some = judge(execution)
        counts = ("causal", "fifo", "stuck", "duplicate", "sends", "deliveries", "violating_deliveries",
                  "violating_pairs", "undelivered_count", "withheld_count", "phantom_count")  # fmt: skip
        for name in counts:
            assert getattr(some, name) == getattr(whole, name), name
        for name in ("violations", "gaps", "duplicates", "phantoms", "undelivered"):
            assert getattr(some, name) == getattr(whole, name)[:kept], name
    assert let_go[0] > 5
    assert let_go[1] > 5


def test_a_message_to_the_same_destination_by_two_routes_is_one_message() -> None:
    """Destinations named twice, or in another order, are the same queues."""
    run = (Send(0, "a", (1, 1)), Send(0, "b", (2, 1)), Send(0, "c", (1, 2)), Deliver(1, "c"), Deliver(1, "a"))
    judgement = judge(Execution(3, (*run, Deliver(1, "b"), Deliver(1, "a"))))
    assert [each.missing for each in judgement.violations] == [("a", "b")]
    assert (judgement.violating_pairs, judgement.fifo, judgement.duplicate) == (2, False, True)
    assert [(each.process, each.message) for each in judgement.undelivered] == [(2, "b"), (2, "c")]


def test_a_chain_is_as_short_as_by_breadth_first_search() -> None:
    random = Random(5)
    for _ in range(60):
        execution = sent_there(random_execution(random))
        direct, before = closure(execution)
        relation = HappensBefore(execution)
        steps: dict[str, set[str]] = {}
        for earlier, later in direct:
            steps.setdefault(earlier, set()).add(later)
        for first, last in sorted(before)[:200]:
            length, reached = 1, {first}
            while last not in reached:
                reached, length = set().union(*(steps.get(one, set()) for one in reached)), length + 1
            assert len(relation.chain(first, last)) == length


def late(events: int, processes: int) -> Execution:
    """A message is overtaken by the news of it, which passes through all processes, at the very end."""
    random = Random(events)
    run: list[Event] = [Send(0, "first", (processes - 1,))]
    for number in range(events // 2):
        sender = number * 7 % (processes - 1)
        receiver = (sender + random.randrange(1, processes - 1)) % (processes - 1)
        run += [Send(sender, f"m{number}", (receiver,)), Deliver(receiver, f"m{number}")]
    return Execution(
        processes,
        (*run, Send(1, "late", (processes - 1,)), Deliver(processes - 1, "late"), Deliver(processes - 1, "first")),
    )


def test_a_late_violation_is_explained_in_time_that_grows_with_the_run_alone() -> None:
    execution = late(60_000, 32)
    begun = time.process_time()
    judgement = judge(execution)
    assert time.process_time() - begun < 10, "a fraction of a second on an idle machine"
    [violation] = judgement.violations
    assert (violation.missing, violation.chain[0], violation.chain[-1]) == (("first",), "first", "late")
    assert judgement.violating_pairs == 1


def test_findings_do_not_fill_the_memory() -> None:
    """Each of many deliveries overtakes each of many messages: the counts are exact, the findings are few."""
    many = 1_000
    withheld = [Send(0, f"w{number}", (1,)) for number in range(many)]
    over = [Send(0, f"o{number}", (1,)) for number in range(many)]
    run = (*withheld, *over, *(Deliver(1, e.message) for e in over), *(Deliver(1, e.message) for e in withheld))
    judgement = judge(Execution(2, run))
    assert judgement.violating_pairs == many * many
    assert judgement.violating_deliveries == many
    assert sum(len(finding.missing) for finding in judgement.violations) <= KEPT_MISSING
    assert len(judgement.violations) >= FEWEST_CHAINS
