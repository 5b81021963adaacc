"""What the commands of the loop say, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thence.dsl.run.narrate import NarratedStep
from thence.stepping.judging import Answer
from thence.stepping.session import Choice, Session

HELP = """\
a step:
  NUMBER ...         take the step of this number, then the next one
  list               the steps that can be taken now (also an empty line)
  random [N] [SEED]  take N steps at random; by default one
  back [N]           take N steps back; by default one
  restart            back to the beginning
where the run stands:
  changed            what the last step changed and sent
  flight             packets on their way, messages not delivered yet
  state [P]          the variables of process P; by default of all
  says [PROPERTY]    what a property says, and since which step; by default all
  steps              the run so far
  diagram            the run as a space-time diagram
other runs:
  counterexample [PROPERTY]  explore the scope, and go to the end of the counterexample
  scope [NAME]       begin again in this scope; by default the scopes there are
  save NAME [FILE]   the run as a scenario; with FILE, the specification with it, for thence run FILE --scenario NAME
  quit               the end (also Ctrl-D)
A step with (!) violates what the protocol promises.
Words may be cut short: `b` is `back`. PROPERTY is a name such as causal, or an invariant's."""


def choices(session: Session) -> Iterator[str]:
    """The steps that can be taken, by number."""
    there = session.choices
    if session.failed:
        yield "the last step was at fault: nothing comes after it"
        return
    if not there:
        yield "nothing can happen any more"
        return
    width = len(str(len(there)))
    for choice in there:
        yield f"{choice.number:>{width}}  {choice.title}{' (changes nothing)' if choice.idle else ''}{_breaks(choice)}"


def _breaks(choice: Choice) -> str:
    """A mark on a step that violates what the protocol promises."""
    return " (!)" if any(detail.startswith("VIOLATES") for detail in choice.step.details) else ""


def made(number: int, step: NarratedStep) -> Iterator[str]:
    """A step that was made, and what it changed."""
    yield f"step {number}: {step.title}"
    yield from (f"  {detail}" for detail in step.details or ("nothing changed",))


def flight(session: Session) -> Iterator[str]:
    """Packets on their way, and messages that are not delivered yet."""
    packets = session.in_flight
    if not packets:
        yield "nothing is in flight"
    for each in packets:
        times = f" ({each.count} times)" if each.count > 1 else ""
        waits = "" if each.next else " (waits: another packet is before it)"
        yield f"{each.packet} from p{each.source} to p{each.destination}{times}{waits}"
    for message, due in session.undelivered:
        yield f"{message.name} is not delivered yet by {', '.join(f'p{process}' for process in due)}"


def state(session: Session, processes: Sequence[int]) -> Iterator[str]:
    """The variables of processes."""
    for process in processes:
        values = session.variables(process)
        yield f"p{process}: {', '.join(f'{name} = {value}' for name, value in values) or 'no variables'}"


def answer(found: Answer) -> str:
    """What a property says."""
    said = f"{found.property}: {found.standing}"
    match found.standing:
        case "violated" | "reached" if found.step is not None:
            said += " from the beginning" if found.step == 0 else f" by step {found.step}"
            if found.here is not None:
                still = found.here == (found.standing == "reached")
                said += ", and here" if still else ", not here"
        case "not violated" if not found.why:
            said += " so far"
        case "not reached":
            said += " so far"
        case _:
            pass
    return f"{said}: {found.why}" if found.why else said
