"""What a forger makes of a closed set: whatever makes it say something else is refused, however it is signed."""

from __future__ import annotations

import gzip
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.proofs.closed.making import Folder, Searched, checked, protocol_in, searched

from thence.dsl import ir
from thence.dsl.run.scoped import asked_of
from thence.dsl.run.system import System
from thence.proofs.certificate.directory import MOST_BYTES_TOGETHER
from thence.proofs.closed import reading
from thence.proofs.closed.check import Rejected
from thence.proofs.closed.claim import Claim
from thence.proofs.closed.emitted import CLAIM, LOCALS, PACKETS, STATES, Visited
from thence.proofs.closed.reading import NotAClosedSet, read
from thence.proofs.explore.exploration import ExplorationRequest
from thence.proofs.explore.interpreted import Interpretation

EAGER = '''\
"""Sends and delivers at once; a message can be lost."""

protocol eager:
  network reliable, reordering
  message MSG(m: message) carries m
  state:
    seen: set of message
    n: nat
  on causal_send(m):
    send MSG(m) to m.dst
  on receive MSG(m) from j:
    if m not in seen:
      seen.add(m)
      n := n + 1
      deliver m
  invariant counted: forall p: process. n@p <= 2
  invariant few: forall p: process. n@p <= 1
  reachable some: exists p: process. n@p = 1
  property at_most_once, no_creation, causal

scope each of eager:
  processes 3
  sends 1
'''
HOLDING = ("at_most_once", "no_creation", "counted", "fault")
WORKLOAD = ir.Workload(3, (1, 1, 1), ((1, 2), (0, 2), (0, 1)))


@pytest.fixture(scope="session")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed set of a protocol, up to the names of processes."""
    search = searched(EAGER, WORKLOAD, ("symmetry",))
    assert search.found.reductions
    assert {*HOLDING} <= {*search.holding}
    folder = Folder(tmp_path_factory.mktemp("honest"))
    folder.write(search.files(HOLDING))
    return folder.directory


@pytest.fixture
def forged(honest: Path, tmp_path: Path) -> Folder:
    """A copy that may be changed."""
    shutil.copytree(honest, tmp_path / "forged")
    return Folder(tmp_path / "forged")


def rejected(folder: Folder, *words: str) -> bool:
    found = folder.confirm()
    assert found.fault is not None
    assert found.checked.states == 0
    missing = [word for word in words if word not in found.fault]
    assert not missing, found.fault
    return True


def test_the_honest_one_is_confirmed(honest: Path) -> None:
    found = Folder(honest).confirm()
    assert (found.fault, found.why_open) == (None, None)
    assert found.checked.lines < found.checked.states < found.checked.steps
    lines = Folder(honest).lines()
    assert found.checked.lines == len(lines)


def test_what_is_signed_anew_is_the_same(honest: Path, forged: Folder) -> None:
    forged.sign()
    forged.put(forged.lines())
    for path in honest.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (forged.directory / path.relative_to(honest)).read_bytes()


def test_no_state_can_be_left_out(forged: Folder) -> None:
    lines = forged.lines()
    for at in range(0, len(lines), 2):
        forged.put([*lines[:at], *lines[at + 1 :]])
        forged.sign()
        assert rejected(forged, "not in the set")


def test_no_state_can_be_another(forged: Folder) -> None:
    """One thing is changed: the state that was there is then missing, or the new one leads elsewhere."""
    lines = forged.lines()
    for at, line in [*enumerate(lines)][::8]:
        for changed in _changes(line):
            forged.put([*lines[:at], changed, *lines[at + 1 :]])
            forged.sign()
            assert forged.confirm().fault, (at, changed)


def _changes(line: Any) -> list[Any]:
    """The state with a packet more, with one fewer, with another local state, with a forgotten past, and so on."""
    locals_, network, pasts, pending, sends, *rest = line
    found = [[[*locals_[:2], (locals_[2] + 1) % 2], network, pasts, pending, sends, *rest]]
    found.append([locals_, [*network, 0], pasts, pending, sends, *rest])
    found.append([locals_, network, [[0], *pasts[1:]] if not pasts[0] else [[], *pasts[1:]], pending, sends, *rest])
    if network:
        found.append([locals_, network[1:], pasts, pending, sends, *rest])
    if pending:
        found.append([locals_, network, pasts, pending[1:], sends, *rest])
    found.append([locals_, network, pasts, pending, [1 - sends[0], *sends[1:]], *rest])
    return found


def test_the_initial_state_must_be_there(forged: Folder) -> None:
    """A set that nothing leads out of, without the initial state."""
    last = [line for line in forged.lines() if not line[1] and line[4] == [1, 1, 1]]
    assert last
    forged.put(last)
    forged.sign()
    assert rejected(forged, "initial state")
    forged.put([])
    forged.sign()
    assert rejected(forged, "initial state")


@pytest.mark.parametrize("settings", [
    ("processes 3", "sends 2 per process"), ("processes 3", "sends 1 per process", "losses 1"),
    ("processes 3", "sends 1 per process", "duplicates 1"), ("processes 3", "sends 2, 1, 1"),
    ("processes 3", "sends 1 per process", "self sends"),
])  # fmt: skip
def test_the_scope_can_be_no_larger(forged: Folder, settings: tuple[str, ...]) -> None:
    assert not _with(forged, scope=None).fault
    identity = (forged.claim.renamings[0],)
    found = _with(forged, settings=settings, renamings=identity if "2, 1" in settings[1] else forged.claim.renamings)
    assert found.fault, settings
    assert found.checked.states == 0


def _with(folder: Folder, **changes: Any) -> Any:
    folder.sign(lambda claim: replace(claim, **changes))
    return folder.confirm()


def test_an_edit_of_the_scope_alone_is_seen(forged: Folder) -> None:
    """Also where the claim would be true: its ids are those of another scope."""
    claim = forged.directory / CLAIM
    claim.write_text(claim.read_text().replace("sends 1 per process", "sends 0 per process"))
    assert rejected(forged, "ids")


def test_an_edit_of_the_source_alone_is_seen(forged: Folder) -> None:
    source = forged.directory / "sources" / "drawn.thence"
    source.write_text(source.read_text().replace("can be lost", "cannot be lost"))
    assert rejected(forged, "ids")


@pytest.mark.parametrize(("old", "new"), [
    ("n := n + 1", "n := n + 2"), ("if m not in seen", "if true"),
    ("network reliable", "network lossy"), ("send MSG(m) to m.dst", "send MSG(m) to self"),
    ("protocol eager", "protocol other"), ("n@p <= 2", "n@p <= 0"), ("protocol", "prot"),
])  # fmt: skip
def test_the_source_cannot_say_something_else(forged: Folder, old: str, new: str) -> None:
    source = forged.directory / "sources" / "drawn.thence"
    text = source.read_text()
    assert old in text
    source.write_text(text.replace(old, new))
    forged.sign(lambda claim: replace(claim, scope=None))
    found = forged.confirm()
    if new in ("if true", "network lossy"):  # nothing comes twice, and nothing is lost: the same states
        assert found.fault is None
    else:
        assert found.fault


@pytest.mark.parametrize(("name", "word"), [
    ("few", "few"), ("causal", "true"), ("fifo", "true"), ("delivered", "in the end"), ("some", "reaches"),
    ("deadlock_free", "timers"), ("nonsense", "no such property"), ("at_most_once", "twice"),
])  # fmt: skip
def test_no_property_can_be_added(forged: Folder, name: str, word: str) -> None:
    def changed(claim: Claim) -> Claim:
        left = tuple(each for each in claim.omitted if each[0] != name)
        return replace(claim, properties=(*claim.properties, name), omitted=left)

    forged.sign(changed)
    if word == "true":  # each sends one message
        assert forged.confirm().fault is None
    else:
        assert rejected(forged, word)


@pytest.mark.parametrize("renamings", [
    ((0, 1, 2), (0, 1, 1)), ((0, 1, 2), (0, 1, 3)), ((0, 1, 2), (0, 1)), ((1, 0, 2),), ((0, 1, 2), (0, 1, 2)),
    ((0, 1, 2),), ((0, 1, 2), (1, 2, 0)), (),
])  # fmt: skip
def test_renamings_must_be_renamings(forged: Folder, renamings: tuple[tuple[int, ...], ...]) -> None:
    """Neither such that are none, nor too few of them."""
    forged.sign(lambda claim: replace(claim, renamings=renamings))
    assert rejected(forged)


def test_renamings_must_keep_the_workload(forged: Folder) -> None:
    """Where one process sends more than another, they are not alike."""
    forged.sign(lambda claim: replace(claim, settings=("processes 3", "sends 1, 1, 0"), scope=None))
    assert rejected(forged, "does not keep the workload")


def test_what_is_omitted_is_said(forged: Folder) -> None:
    forged.sign(lambda claim: replace(claim, omitted=()))
    assert rejected(forged, "omitted")


@pytest.mark.parametrize("file", [CLAIM, STATES, LOCALS, PACKETS, "README.md", "citation.bib", "sources/drawn.thence"])
def test_every_file_is_needed_and_held_to_its_form(forged: Folder, file: str) -> None:
    path = forged.directory / file
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert forged.confirm().fault
    path.write_bytes(b"\x1f\x8b\x08garbage")
    assert forged.confirm().fault
    path.write_bytes(content + b"x")
    assert forged.confirm().fault
    path.unlink()
    if file == CLAIM:
        with pytest.raises(NotAClosedSet):
            forged.confirm()
    else:
        assert rejected(forged, "missing")
        (path.parent / path.name).symlink_to("/dev/zero")
        assert rejected(forged, "link")


def test_there_is_nothing_else(forged: Folder) -> None:
    (forged.directory / "more").write_text("")
    assert rejected(forged, "no part")


@pytest.mark.parametrize("line", [
    "[]", "{}", "3", "[[0,0,0],[],[],[],[],[],0,0,[],[],[]]", "[[0,0,9],[],[[],[],[]],[],[0,0,0],[],0,0,[],[],[]]",
    "[[0,0,true],[],[[],[],[]],[],[0,0,0],[],0,0,[],[],[]]", "[[0,0,0],[-1],[[],[],[]],[],[0,0,0],[],0,0,[],[],[]]",
    "[[0,0,0],[],[[99],[],[]],[],[0,0,0],[],0,0,[],[],[]]", "[[0,0,0],[],[[],[],[]],[],[9,0,0],[],0,0,[],[],[]]",
    "[[0,0,0],[],[[],[],[]],[[[0,0,[7]],[7],[]]],[0,0,0],[],0,0,[],[],[]]",
    "[[0,0,0],[],[[],[],[]],[[[0,0,[1]],[2],[]]],[0,0,0],[],0,0,[],[],[]]",
    "[[0,0,0],[],[[],[],[]],[],[0,0,0],[1],0,0,[],[],[]]", "[[0,0,0],[],[[],[],[]],[],[0,0,0],[],1.5,0,[],[],[]]",
    pytest.param("[" * 10_000, id="nested"), "[[0,0,0],[],[[],[],[]],[],[0,0,0],[],99999999999,0,[],[],[]]",
    "\\u0000", "",
])  # fmt: skip
def test_a_line_that_is_no_state_is_refused(forged: Folder, line: str) -> None:
    content = gzip.decompress((forged.directory / STATES).read_bytes())
    (forged.directory / STATES).write_bytes(gzip.compress(content + line.encode() + b"\n", mtime=0))
    forged.sign_states(len(content.splitlines()) + 1)
    assert rejected(forged, STATES)


@pytest.mark.parametrize(
    "line", [[], [1, 2], [[[0, 0, [1]]], True], [[[0, 0, [1]], [0, 0, [1]]], 1], [[[0, 7, [1]]], 1]]
)
def test_a_line_that_is_no_local_state_is_refused(forged: Folder, line: Any) -> None:
    forged.put([*forged.lines(LOCALS), line], LOCALS)
    assert rejected(forged)


@pytest.mark.parametrize(
    "line", [[], ["ACK", 0, 1, []], ["MSG", 0, 1, []], ["MSG", 0, 9, [[0, 0, [1]]]], [[], 0, 1, []]]
)
def test_a_line_that_is_no_packet_is_refused(forged: Folder, line: Any) -> None:
    forged.put([*forged.lines(PACKETS), line], PACKETS)
    assert rejected(forged)


def test_what_is_packed_tightly_is_not_unpacked(forged: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(reading.MOST_TEXT, STATES, 1 << 16)
    (forged.directory / STATES).write_bytes(gzip.compress(b"[]\n" * (1 << 16)))
    forged.sign_states(1 << 16)
    assert rejected(forged, STATES)
    monkeypatch.undo()
    (forged.directory / STATES).write_bytes(gzip.compress(b"[" * (1 << 20)))
    assert rejected(forged, "longer than")


def test_a_huge_file_is_not_read(forged: Folder) -> None:
    with (forged.directory / STATES).open("r+b") as file:
        file.truncate(MOST_BYTES_TOGETHER + 1)
    assert rejected(forged, "larger than")


def test_another_format_is_refused(forged: Folder) -> None:
    claim = forged.directory / CLAIM
    claim.write_text(claim.read_text().replace("thence-closed-set/1", "thence-closed-set/9"))
    with pytest.raises(NotAClosedSet, match="thence-closed-set/9"):
        read(forged.directory)


def test_another_version_is_said(forged: Folder) -> None:
    forged.sign(lambda claim: replace(claim, thence="0.0.7"))
    found = forged.confirm()
    assert found.fault is None
    assert found.reading is not None
    assert "0.0.7" in found.reading.notes[0]


def test_nothing_is_confirmed_where_no_run_has_a_step() -> None:
    search = searched(EAGER, replace(WORKLOAD, sends=(0,) * len(WORKLOAD.sends)))
    assert search.found.transitions == 0
    with pytest.raises(Rejected, match="no run has a step"):
        checked(search.files(["fault"]))


def test_what_was_judged_besides_leaves_no_trace(tmp_path: Path) -> None:
    """The histories of what is refuted are in the states, and not in the claim of what holds."""
    protocol = protocol_in(EAGER)
    asked = frozenset({"causally_ordered", "total_order", "causal", "at_most_once"})
    workload = replace(WORKLOAD, sends=(2, 1, 0))
    visited = Visited()
    system = System(asked_of(protocol, asked), workload)
    found = Interpretation(ExplorationRequest(system, asked, keep=visited.take)).run()
    assert {"causally_ordered", "causal"} <= found.violations.keys()
    search = Searched(EAGER, workload, asked, found, visited)
    folder = Folder(tmp_path)
    folder.write(search.files(["at_most_once"]))
    assert folder.confirm().fault is None
    for name in found.violations:
        folder.write(search.files([name]))
        assert rejected(folder, name)


@pytest.mark.long(but=("0",))
@pytest.mark.parametrize("seed", range(20))
def test_edits_at_random_are_refused(forged: Folder, seed: int) -> None:
    """A character is changed, taken out or put in; the folder is signed anew."""
    random = Random(seed)
    for _ in range(6):
        file = random.choice((STATES, STATES, LOCALS, PACKETS))
        packed = (forged.directory / file).read_bytes()
        text = bytearray(gzip.decompress(packed))
        at = random.randrange(len(text))
        text[at : at + random.randint(0, 1)] = random.choice((b"", b"0", b"1", b"2", b"[", b"]", b",", b"t", b"-"))
        if text == gzip.decompress(packed):
            continue
        (forged.directory / file).write_bytes(gzip.compress(text, mtime=0))
        forged.sign_states(len(gzip.decompress((forged.directory / STATES).read_bytes()).splitlines()))
        assert rejected(forged), (file, at)
        (forged.directory / file).write_bytes(packed)
