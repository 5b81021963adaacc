"""Kept answers: the same question only, decided ones only; damage and forgery of models change nothing."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thence.dsl import ir
from thence.dsl.ir.types import BOOL, MESSAGE
from thence.proofs.logic.formula import holds, local
from thence.proofs.logic.obligation import Signature
from thence.proofs.logic.structure import evaluate
from thence.proofs.prove import proofs, prove_specification
from thence.proofs.solving import answer_cache, solver_worker
from thence.proofs.solving.answer_cache import (
    FOLDER,
    UNUSED_DAYS,
    AnswerCache,
    request_key,
)
from thence.proofs.solving.discharge import Options
from thence.proofs.solving.finite_models import Problem, find_model
from thence.proofs.solving.solver import Answer, Check, Found, SolverPool, Stage, StagedSearch, without_comments
from thence.proofs.solving.solver_worker import EXHAUSTED
from thence.spec.cache_folder import cache_folder

Specify = Callable[[str], ir.Specification]

UNSAT = Check("z3", "(set-logic ALL)\n(assert false) ; never\n(check-sat)\n", 5_000, 0)
SEARCH = StagedSearch({"goal": "Bool", "n": "Int"}, (Stage(("(< 3 n)",), {"model": "goal"}),), (), 5_000, 0)
FOUND = Answer("done", "", 0.5, {"model": Found(0, {"goal": True, "n": 4})})


def entries(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())


def test_what_was_kept_is_recalled(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "not" / "there")
    assert cache.recall(UNSAT) is None
    cache.keep(UNSAT, Answer("unsat", "", 0.25, core=("h0", "g")))
    assert cache.recall(UNSAT) == Answer("unsat", "", 0.25, core=("h0", "g"), cached=True)
    cache.keep(SEARCH, FOUND)
    assert cache.recall(SEARCH) == replace(FOUND, cached=True)


@pytest.mark.parametrize(
    "other",
    [
        replace(UNSAT, solver="cvc5"),
        replace(UNSAT, seed=1),
        replace(UNSAT, timeout_ms=5_001),
        replace(UNSAT, core="small"),
        replace(UNSAT, only_refute=True),
        replace(UNSAT, text=UNSAT.text.replace("false", "true")),
    ],
)
def test_another_question_is_another_key(other: Check) -> None:
    assert request_key(other) != request_key(UNSAT)


def test_versions_and_the_program_are_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = request_key(UNSAT)
    monkeypatch.setattr(answer_cache, "_version", lambda solver: "0")
    assert request_key(UNSAT) != before
    monkeypatch.undo()
    monkeypatch.setattr(answer_cache, "_program", lambda: "changed")
    assert request_key(UNSAT) != before


def test_the_program_in_the_key_is_all_of_the_program() -> None:
    source = Path(solver_worker.__file__).read_text(encoding="utf-8")
    assert "thence." not in source, "its own source alone decides how a question is put"


def test_names_in_comments_do_not_matter() -> None:
    assert without_comments(UNSAT.text) == "(set-logic ALL)\n(assert false)\n(check-sat)"
    assert request_key(replace(UNSAT, text=UNSAT.text.replace("never", "ever"))) == request_key(UNSAT)


def test_an_unknown_is_not_kept(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path)
    cache.keep(UNSAT, Answer("unknown", "timeout", 5.0))
    cache.keep(SEARCH, Answer("unknown", "killed", 5.0))
    assert entries(tmp_path) == []


def test_that_nothing_refutes_a_part_is_kept(tmp_path: Path) -> None:
    """Of a question of which only `unsat` says anything, and only where no limit was reached."""
    cache, part = AnswerCache(tmp_path), replace(UNSAT, only_refute=True)
    for other, reason in (
        (UNSAT, EXHAUSTED),
        (part, "timeout"),
        (part, "solver error: none"),
        (part, "killed after 1 s"),
    ):
        cache.keep(other, Answer("unknown", reason, 0.5))
        assert cache.recall(other) is None
    assert entries(tmp_path) == []
    cache.keep(part, Answer("unknown", EXHAUSTED, 0.5))
    assert cache.recall(part) == Answer("unknown", EXHAUSTED, 0.5, cached=True)
    assert cache.recall(UNSAT) is None


@given(data=st.data())
@settings(derandomize=True, deadline=None, max_examples=150)
def test_a_damaged_entry_is_absent_or_the_same(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    directory = tmp_path_factory.mktemp("answers")
    cache = AnswerCache(directory)
    cache.keep(SEARCH, FOUND)
    (path,) = entries(directory)
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[at] ^= data.draw(st.integers(1, 255))
    else:
        del content[at:]
    path.write_bytes(content)
    assert cache.recall(SEARCH) in (None, replace(FOUND, cached=True))


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"null", b"\xff", b"[" * 100_000])
def test_something_else_is_absent(tmp_path: Path, content: bytes) -> None:
    cache = AnswerCache(tmp_path)
    cache.keep(UNSAT, Answer("unsat", "", 0.0))
    (path,) = entries(tmp_path)
    path.write_bytes(content)
    assert cache.recall(UNSAT) is None
    cache.keep(UNSAT, Answer("unsat", "", 0.0))
    assert cache.recall(UNSAT) is not None


def test_an_entry_under_another_name_is_absent(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path)
    cache.keep(UNSAT, Answer("unsat", "", 0.0))
    (path,) = entries(tmp_path)
    other = replace(UNSAT, seed=7)
    cache.keep(other, Answer("unsat", "", 0.0))
    (moved,) = (each for each in entries(tmp_path) if each != path)
    moved.write_bytes(path.read_bytes())
    assert cache.recall(other) is None


def forge(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Rewrites the answer of an entry, with a sum that fits."""
    entry = json.loads(path.read_text())
    change(entry["answer"])
    entry["sum"] = sha256(json.dumps(entry["answer"], sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(entry))


@pytest.mark.parametrize(
    "change",
    [
        lambda answer: answer.update(status="sat"),
        lambda answer: answer.update(seconds="0"),
        lambda answer: answer.update(models=[]),
        lambda answer: answer.update(core="h0"),
        lambda answer: answer["models"].update(other=answer["models"]["model"]),
        lambda answer: answer["models"]["model"].update(stage=1),
        lambda answer: answer["models"]["model"].update(values={}),
        lambda answer: answer["models"]["model"]["values"].update(n=True),
        lambda answer: answer["models"].update(model=3),
    ],
)
def test_a_forged_entry_of_another_shape_is_absent(tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    cache = AnswerCache(tmp_path)
    cache.keep(SEARCH, FOUND)
    (path,) = entries(tmp_path)
    forge(path, change)
    assert cache.recall(SEARCH) is None


def test_a_forged_model_is_found_out_by_evaluation(tmp_path: Path) -> None:
    m = ir.Variable("m", MESSAGE)
    signature = Signature((MESSAGE,), (), (ir.Symbol("sent", (m,), BOOL),))
    x = ir.Variable("x", MESSAGE)
    stated = ir.NamedFormula("one is sent", holds("sent", local(x)))
    problem = Problem(signature, (stated,), (), (x,))
    with SolverPool(1, AnswerCache(tmp_path)) as pool:
        first = find_model(pool, problem, timeout_ms=5_000, seed=0)
        (path,) = entries(tmp_path)

        def deny(answer: dict[str, Any]) -> None:
            values = answer["models"]["model"]["values"]
            values.update({name: False for name in values if name.startswith("sent")})

        forge(path, deny)
        again = find_model(pool, problem, timeout_ms=5_000, seed=0)
        assert (pool.recalled, pool.solved) == (1, 2)
    assert first.model is not None and again.model == first.model
    assert evaluate(stated.body, again.model.structure, again.model.environment)
    healed = AnswerCache(tmp_path)
    with SolverPool(1, healed) as pool:
        assert find_model(pool, problem, timeout_ms=5_000, seed=0).model == first.model
        assert (pool.recalled, pool.solved) == (1, 0)


def test_threads_and_processes_may_write_at_once(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path)
    seen: list[Answer | None] = []

    def work() -> None:
        for _ in range(50):
            cache.keep(SEARCH, FOUND)
            seen.append(cache.recall(SEARCH))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen and all(answer == replace(FOUND, cached=True) for answer in seen)
    assert len(entries(tmp_path)) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_directory_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    cache = AnswerCache(tmp_path)
    cache.keep(UNSAT, Answer("unsat", "", 0.0))
    cache.prune()
    assert cache.recall(UNSAT) is None


def test_a_file_in_its_place_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = AnswerCache(tmp_path / "file")
    cache.keep(UNSAT, Answer("unsat", "", 0.0))
    cache.prune()
    assert cache.recall(UNSAT) is None


def test_what_nobody_asks_for_goes(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path)
    old = time.time() - (UNUSED_DAYS + 1) * 86_400
    cache.keep(UNSAT, Answer("unsat", "", 0.0))
    cache.keep(SEARCH, FOUND)
    for path in entries(tmp_path):
        os.utime(path, (old, old))
    assert cache.recall(UNSAT) is not None
    cache.prune()
    assert cache.recall(UNSAT) is not None
    assert cache.recall(SEARCH) is None
    cache.keep(SEARCH, FOUND)
    for path in entries(tmp_path):
        if path.name != "pruned":
            os.utime(path, (old, old))
    cache.prune()
    assert len(entries(tmp_path)) == 3, "it looked again on the same day"


def test_where_answers_are_kept_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder(FOLDER) == tmp_path / "thence" / "answers"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder(FOLDER) == tmp_path / ".cache" / "thence" / "answers"


PLAIN = """
machine plain:
  transition causal_send(m):
    pass
  transition deliver(m):
    require sent(m) and not delivered(m)
  invariant life: forall {name}. delivered({name}) implies sent({name})
  prove no_creation, at_most_once
"""


def test_the_results_are_the_same_from_the_cache(specify: Specify, tmp_path: Path) -> None:
    options = Options(cache=tmp_path)
    solved = prove_specification(specify(PLAIN.format(name="one")))
    first = prove_specification(specify(PLAIN.format(name="one")), (), options)
    second = prove_specification(specify(PLAIN.format(name="other")), (), options)
    assert [(each.name, each.verdict, each.level) for each in first] == [
        (each.name, each.verdict, each.level) for each in solved
    ]
    for one, other in zip(first, second, strict=True):
        assert (one.name, one.verdict, one.level, one.expected) == (
            other.name,
            other.verdict,
            other.level,
            other.expected,
        )
    for each in second:
        for solver in each.facts.get("solvers", {}).values():
            assert solver["cached"] == solver["unsat"] > 0


def test_without_a_cache_nothing_is_recalled(specify: Specify) -> None:
    assert Options().cache is None
    for proof in proofs(specify(PLAIN.format(name="one"))):
        assert not any(answer.cached for each in proof.assessment.discharges for answer in each.answers.values())
