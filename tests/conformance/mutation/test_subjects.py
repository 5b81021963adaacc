"""What the fates of mutants depend on."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from thence.conformance.mutation.subjects import context_of
from thence.dsl.load import load


@pytest.mark.parametrize(
    "imports", ["import helping", "from helping import ready", "import between", "from between import helping"]
)
def test_a_change_of_a_module_beside_the_implementation_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, imports: str
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "helping.py").write_text("def ready(): return True\n")
    (tmp_path / "between.py").write_text("import helping\n")
    (tmp_path / "implementing.py").write_text(f"import json\n{imports}\n")
    try:
        importlib.import_module("implementing")
        before = context_of(load("fifo"), "implementing:Any")
        (tmp_path / "helping.py").write_text("def ready(): return False\n")
        assert context_of(load("fifo"), "implementing:Any") != before
        assert "JSONDecoder" not in before
    finally:
        for name in ("implementing", "between", "helping"):
            sys.modules.pop(name, None)


def test_a_module_of_a_package_depends_on_the_modules_of_its_package() -> None:
    importlib.import_module("thence.impl.mf")
    said = context_of(load("mf"), "thence.impl.mf:MF")
    assert "class Send" in said and "class Execution" not in said
