"""The page: one document, whose script is made of the modules, and in which a text cannot become markup."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from importlib.resources import files

import pytest

from thence.play.page import in_script, page, policy, script, style

FRONT = sorted(path.name for path in files("thence.play").joinpath("front").iterdir())


def test_every_module_is_in_the_script_once_and_imports_are_not() -> None:
    text = script()
    for name in FRONT:
        if name.endswith(".js") and name != "worker.js":
            assert text.count(f"// {name}\n") == 1
    assert not re.search(r"^(import|export)\b", text, re.MULTILINE)


def test_names_of_modules_do_not_meet() -> None:
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", script(), re.MULTILINE)
    assert len(names) == len(set(names))


def test_the_script_is_a_script() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    done = subprocess.run([node, "--check", "-"], input=script(), text=True, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_nothing_in_the_script_makes_markup_of_a_text_or_code_of_it() -> None:
    for wrong in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc"):
        assert wrong not in script()


def test_nothing_in_the_script_or_the_style_ends_its_element() -> None:
    assert "</script" not in script() and "<!--" not in script()
    assert "</style" not in style()
    assert "@import" not in style() and "url(" not in style()


def test_a_value_in_the_page_is_data() -> None:
    hostile = {"name": "</script><script>alert(1)</script><!--", "text": "\u2028]]>&lt;"}
    inside = in_script(hostile)
    assert "<" not in inside and "&" not in inside and json.loads(inside) == hostile
    text = page({"mode": "kept", **hostile}, title="<script>alert(2)</script>")
    assert "</script><script>alert" not in text and "<script>alert" not in text


def test_the_policy_names_the_page_s_own_script_and_style() -> None:
    found = policy()
    assert found.count("sha256-") == 2 and "unsafe" not in found and "connect-src 'none'" in found
