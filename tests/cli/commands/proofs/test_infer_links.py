"""`thence infer FILE 'PROTOCOL to MACHINE'` as it is used."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from at_work import until_at_work

Thence = Callable[..., Any]

COUNTED = '''protocol counted:
  """Messages from one process to another have numbers, and are delivered in their order."""
  network reliable, reordering
  message MSG(m: message, n: nat) carries m
  state:
    out: map process to nat
    done: map process to nat
  on causal_send(m):
    out[m.dst] := out[m.dst] + 1
    send MSG(m, out[m.dst]) to m.dst
  on receive MSG(m, n) from j:
    if n = done[j] + 1:
      done[j] := n
      deliver m
  property fifo

scope two of counted:
  processes 2
  sends 2, 1
  expect holds fifo

machine numbers:
  """The same, for any number of processes and messages."""
  function last(p: process, q: process): nat
  function taken(q: process, p: process): nat
  function number(m: message): nat
  transition causal_send(m):
    number(m) := last(src(m), dst(m)) + 1
    forall p, q: last(p, q) := last(p, q) + if p = src(m) and q = dst(m) then 1 else 0
  transition deliver(m):
    require sent(m)
    require number(m) = taken(dst(m), src(m)) + 1
    forall q, p: taken(q, p) := taken(q, p) + if q = dst(m) and p = src(m) then 1 else 0
  invariant bounded: forall m. sent(m) implies 1 <= number(m) and number(m) <= last(src(m), dst(m))
  prove bounded

machine anything:
  """Whatever was sent may be delivered, and any number of times."""
  transition causal_send(m): pass
  transition deliver(m):
    require sent(m)
  prove no_creation

conforms counted to numbers:
  causal_send(m) is causal_send(m)
  deliver m      is deliver(m)

conforms counted to anything:
  causal_send(m) is causal_send(m)
  deliver m      is deliver(m)
'''

LINK = "counted to numbers"


def test_what_the_proof_rests_on_is_said_as_by_prove(thence: Thence, tmp_path: Path) -> None:
    file = tmp_path / "mine.thence"
    axioms = "  axiom others: forall m. src(m) != dst(m)\n  axiom even: forall m. not good(m)\n"
    given = f"  constant relation good(m: message)\n{axioms}  transition causal_send(m): pass\n"
    file.write_text(COUNTED.replace("  transition causal_send(m): pass\n", given))
    found = thence("infer", str(file), "counted to anything", "--json")
    (link,) = found.object["links"]
    assert link["verdict"] == "proved"
    where = ["nobody sends to itself", "there are two processes or more"]
    assert (link["where"], link["assumes"]) == (where, ["even"])
    said = "where nobody sends to itself and there are two processes or more, assumes even"
    assert said in thence("infer", str(file), "counted to anything").out


def test_what_is_found_is_written_and_proved(thence: Thence, tmp_path: Path) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(COUNTED)
    assert thence("prove", str(file), LINK).code == 3
    found = thence("infer", str(file), LINK, "--write", "--json")
    (link,) = found.object["links"]
    assert found.code == 0 and link["verdict"] == "proved" and link["link"] == LINK
    assert found.object["machines"] == []
    head, of_link = file.read_text().split(f"conforms {LINK}:\n")
    block, other = of_link.split("conforms counted to anything:\n")
    assert head == COUNTED.split("conforms")[0] and "invariant" not in other
    assert link["invariants"] and all(f"invariant {each['name']}:" in block for each in link["invariants"])
    assert thence("fmt", "--check", str(file)).code == 0
    assert thence("prove", str(file), LINK, "--no-cache").code == 0
    before = file.read_text()
    again = thence("infer", str(file), LINK, "--write")
    assert again.code == 0 and "no invariant is missing" in again.out and file.read_text() == before


@pytest.mark.long
def test_what_each_invariant_excludes_is_shown(thence: Thence, tmp_path: Path) -> None:
    """Without it an obligation fails in a state; with `-v` this state stands under the invariant."""
    file = tmp_path / "mine.thence"
    file.write_text(COUNTED)
    found = thence("infer", str(file), LINK, "--json")
    (link,) = found.object["links"]
    assert link["verdict"] == "proved" and link["invariants"]
    heads = [each["without"].splitlines()[0] for each in link["invariants"]]
    assert all(each.endswith("fails in this state, which need not be reachable:") for each in heads)
    false = [line for each in link["invariants"] for line in each["without"].splitlines() if "would be false" in line]
    assert not any("on line" in each for each in false)  # what was found stands on no line of the file
    for each in link["invariants"]:
        fewer = [f"  invariant {one['name']}: {one['text'].split(': ', 1)[1]}" for one in link["invariants"]]
        fewer = [line for line in fewer if not line.startswith(f"  invariant {each['name']}:")]
        text = COUNTED.replace(f"conforms {LINK}:\n", "\n".join([f"conforms {LINK}:", *fewer, ""]))
        (other := tmp_path / "fewer.thence").write_text(text)
        assert each["without"].split("`")[1] in thence("prove", str(other), LINK).out
    shown = thence("infer", str(file), LINK, "-v").out
    assert shown.count("    without it:\n    `") == len(link["invariants"])
    assert "without it:" not in thence("infer", str(file), LINK).out


def test_a_packet_may_have_a_field_with_the_name_of_a_function(thence: Thence, tmp_path: Path) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(COUNTED.replace("message MSG(m: message, n: nat)", "message MSG(m: message, number: nat)"))
    assert thence("infer", str(file), LINK, "--write").code == 0
    assert thence("fmt", "--check", str(file)).code == 0 and thence("check", str(file)).code == 0
    assert thence("prove", str(file), LINK, "--no-cache").code == 0


@pytest.mark.long
def test_each_link_of_a_file_is_found_by_its_name(thence: Thence, tmp_path: Path) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(COUNTED)
    found = thence("infer", str(file), "counted to anything", LINK, "--json")
    assert [each["link"] for each in found.object["links"]] == ["counted to anything", LINK]
    assert [each["verdict"] for each in found.object["links"]] == ["proved", "proved"]
    with_machine = thence("infer", str(file), "numbers", "counted to anything", "--json")
    assert [each["machine"] for each in with_machine.object["machines"]] == ["numbers"]
    assert [each["link"] for each in with_machine.object["links"]] == ["counted to anything"]


def test_a_wrong_protocol_is_refuted_by_a_run(thence: Thence, tmp_path: Path) -> None:
    """It delivers what comes early."""
    file = tmp_path / "mine.thence"
    file.write_text(COUNTED.replace("if n = done[j] + 1:", "if n > done[j]:").replace("  expect holds fifo\n", ""))
    found = thence("infer", str(file), LINK, "--json")
    (link,) = found.object["links"]
    assert found.code == 1 and link["verdict"] == "refuted" and not link["invariants"]
    assert "which the machine refuses" in link["refuted"]["run"]
    assert "this run breaks the link after 3 steps:" in link["refuted"]["run"]  # no shorter run has two messages


@pytest.mark.long
def test_a_fault_that_no_sample_shows_is_not_proved(thence: Thence, tmp_path: Path) -> None:
    """The fault comes with the 100th message of a channel, so no run of the scopes has it."""
    file = tmp_path / "mine.thence"
    file.write_text(COUNTED.replace("if n = done[j] + 1:", "if n = done[j] + 1 or n = 100:"))
    found = thence("infer", str(file), LINK, "--timeout", "20")
    assert found.code == 3 and "unknown after" in found.out and "receive MSG" in found.out


def test_an_invariant_that_runs_make_false_is_refuted(thence: Thence, tmp_path: Path) -> None:
    file = tmp_path / "mine.thence"
    head, tail = COUNTED.split("conforms counted to anything")
    file.write_text(
        f"{head}  invariant none_sent: forall p, q: process. out@p[q] = 0\n\nconforms counted to anything{tail}"
    )
    found = thence("infer", str(file), LINK)
    assert found.code == 1 and "invariant none_sent is false" in found.out
    hidden = thence("infer", str(file), LINK, "--hide", "none_sent")
    assert hidden.code == 0 and "none_sent" not in hidden.out


@pytest.mark.long
def test_a_seed_fixes_every_choice(thence: Thence, tmp_path: Path) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(COUNTED)
    found = [thence("infer", str(file), LINK, "--seed", "3", "--json").object["links"][0] for _ in range(2)]
    assert found[0]["invariants"] == found[1]["invariants"]


def test_bad_requests(thence: Thence, tmp_path: Path) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(COUNTED)
    assert thence("infer", str(file), "counted to number").rejects("no machine or link counted to number")
    assert thence("infer", str(file), LINK, "--hide", "nothing").rejects("no invariant nothing")
    assert thence("infer", str(file), LINK, "--ask").rejects(f"{LINK} is a link: --ask is for machines")
    assert thence("infer", str(file), LINK, "numbers", "--hints", "--hide", "all").rejects("not with both")
    assert thence("infer", str(file), LINK, "numbers", "--hide", "all").rejects("not with both")
    assert thence("infer", "fifo", "fifo to sequence_numbers", "--write").rejects("of the library")


@pytest.mark.long
def test_hints_are_a_table(thence: Thence, tmp_path: Path) -> None:
    """The link needs no hint: the search finds what is hidden."""
    file = tmp_path / "mine.thence"
    clauses = "  causal_send(m) is causal_send(m)\n  deliver m      is deliver(m)\n"
    hint = "  invariant counts: forall p, q: process. out@p[q] = last(p, q)\n"
    head, tail = COUNTED.split(f"conforms counted to numbers:\n{clauses}")
    file.write_text(f"{head}conforms counted to numbers:\n{clauses}{hint}{tail}")
    found = thence("infer", str(file), LINK, "--hints", "--json")
    (said,) = found.object["links"]
    assert found.code == 0 and found.object["machines"] == []
    assert said["hints"] == {"hidden": ["counts"], "given": [], "standing": "the fewest", "attempts": 2}
    first, row = thence("infer", str(file), LINK, "--hints").out.strip().splitlines()
    assert first.split() == ["link", "hidden", "given", "back", "time"]
    assert row.split()[:5] == [*LINK.split(), "1", "nothing"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Searches are kept there."""
    monkeypatch.setenv("THENCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


LATE_FAULT = COUNTED.replace("if n = done[j] + 1:", "if n = done[j] + 1 or n = 100:")
"""No search finds invariants for this, nor a run that breaks the link."""


@pytest.mark.long
def test_a_search_goes_on(thence: Thence, tmp_path: Path, cache: Path) -> None:
    file = tmp_path / "mine.thence"
    file.write_text(LATE_FAULT)
    ended = thence("infer", str(file), LINK, "--timeout", "20")
    assert ended.code == 3 and "--resume" in ended.out
    (kept,) = cache.iterdir()
    document = json.loads(kept.read_text())
    document["wanted"] = ["forall MSG(m, n) from p to q in flight. sent(m)"]
    kept.write_text(json.dumps(document))
    file.write_text(COUNTED)
    resumed = thence("infer", str(file), LINK, "--resume", "--json")
    (link,) = resumed.object["links"]
    assert resumed.code == 0 and link["verdict"] == "proved" and link["resumed"]["clauses"] == 1
    assert not kept.exists()  # nothing is left to look for
    again = thence("infer", str(file), LINK, "--resume")
    assert again.code == 0 and f"no earlier search of {LINK} was kept" in again.out


UNSOUND = (
    "true",
    "forall p, q: process. out@p[q] = 0",
    "nobody(",
    "true\n\nmachine other:\n  delivery off",
    "forall MSG(m, n) from p to q in flight. n = 0 or n = 1 or not delivered(m)",
    "forall MSG(m, n) from p to q in flight. sent(m) and src(m) = p and dst(m) = q and number(m) = n",
    '"""',
    "forall p, q: process. out@p[q] = last(p, q) # and more",
)
"""Formulas that are true of nothing but the first steps, invariants, and what is no formula of the link."""


@pytest.mark.long(share=2)
@pytest.mark.parametrize("which", ["base", "wanted"])
def test_what_was_kept_is_not_believed(thence: Thence, tmp_path: Path, cache: Path, which: str) -> None:
    """A true link is proved, a wrong one refuted, and one that nothing proves is unknown, whatever the file says."""
    file = tmp_path / "mine.thence"
    wrong = COUNTED.replace("if n = done[j] + 1:", "if n > done[j]:").replace("  expect holds fifo\n", "")
    for text, verdict in ((wrong, "refuted"), (LATE_FAULT, "unknown"), (COUNTED, "proved")):
        file.write_text(LATE_FAULT)
        assert thence("infer", str(file), LINK, "--timeout", "5").code == 3
        (kept,) = cache.iterdir()
        document = json.loads(kept.read_text())
        document |= {"base": [], "wanted": [], which: UNSOUND, "given_up": ["nobody(", "true"]}
        kept.write_text(json.dumps(document))
        file.write_text(text)
        resumed = thence("infer", str(file), LINK, "--resume", "--timeout", "20", "--json")
        (link,) = resumed.object["links"]
        assert link["verdict"] == verdict
        if verdict != "refuted":
            assert 0 < link["resumed"]["clauses"] < len(UNSOUND)
            assert not any("= 0 or n = 1" in each["text"] and verdict == "proved" for each in link["invariants"])


def without_times(found: dict[str, Any]) -> list[dict[str, Any]]:
    both = (*found["machines"], *found["links"])
    return [{name: value for name, value in one.items() if "seconds" not in name} for one in both]


@pytest.mark.long
def test_links_at_the_same_time_are_as_one_after_the_other(thence: Thence, tmp_path: Path, cache: Path) -> None:
    (tmp_path / "mine.thence").write_text(COUNTED)
    named = ("counted to anything", "numbers", LINK)
    here = thence("infer", "mine.thence", *named, "--json")
    there = thence("infer", "mine.thence", *named, "--json", "--jobs", "3")
    assert there.code == here.code == 0
    assert without_times(there.object) == without_times(here.object)
    assert [one["link"] for one in there.object["links"]] == ["counted to anything", LINK]


@pytest.mark.long
def test_an_interrupt_keeps_what_was_found(command: list[str], thence: Thence, tmp_path: Path, cache: Path) -> None:
    """What is kept says what proofs rest on so far; a search that goes on with it proves the link."""
    run = subprocess.Popen(
        [*command, "infer", "mf", "mf to buffers", "--hide", "all"],
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        encoding="utf-8",
    )
    until_at_work(run, 9)
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=60)
    assert run.returncode == 3 and "interrupted" in out and "--resume" in out
    (kept,) = cache.iterdir()
    document = json.loads(kept.read_text())
    assert document["base"] or document["wanted"]
    resumed = thence("infer", "mf", "mf to buffers", "--hide", "all", "--resume")
    assert resumed.code == 0 and "went on with" in resumed.out and not kept.exists()
