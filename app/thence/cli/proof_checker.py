"""The checker of proof objects: SMTInterpol's, a Java archive that Apache Ivy, which comes with Spark, fetches.

`python -m thence.cli.proof_checker` (`make checker`) installs it for the Python environment that runs this;
exit code 2 where it cannot be had. Only the archive with the SHA-256 given here is ever used.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from thence.conformance.java import JavaMissing, ensure_java
from thence.proofs.certificate.smtinterpol import Smtinterpol

ORGANISATION, MODULE, VERSION = "de.uni-freiburg.informatik.ultimate", "smtinterpol", "2.5-1388-ga5a4ab0c"

SHA256 = "5f3277cb94546e0305a6bb1c29752f5ad30857f08bc6d82c6ba60798d1f869f4"

VARIABLE = "THENCE_CHECKER"
"""The environment variable for the place of an archive that this module did not install."""

FETCH_LIMIT_S = 180.0


class CheckerMissing(Exception):
    """The proof checker cannot be had; the message says why."""


def archive() -> Path:
    """The place of the archive, installed or not."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else Path(sys.prefix) / "share" / "thence" / f"{MODULE}-{VERSION}.jar"


def find_checker() -> Smtinterpol | None:
    """The checker, if it is installed and there is a Java to run it.

    Raises:
        CheckerMissing: another file is in its place.
    """
    jar = archive()
    if not jar.is_file():
        return None
    if not _is_genuine(jar):
        raise CheckerMissing(f"{jar} is not {MODULE} {VERSION}: its SHA-256 differs; remove it and run make checker")
    try:
        home = ensure_java()
    except JavaMissing:
        return None
    return Smtinterpol(home / "bin" / "java", jar, VERSION)


def install() -> Path:
    """Fetches the archive if it is not there. Raises: CheckerMissing."""
    jar = archive()
    if jar.is_file() and _is_genuine(jar):
        return jar
    ivy = _ivy()
    try:
        java = ensure_java() / "bin" / "java"
    except JavaMissing as missing:
        raise CheckerMissing(str(missing)) from missing
    try:
        with tempfile.TemporaryDirectory(prefix="thence-") as folder:
            fetched = _fetch(java, ivy, Path(folder))
            jar.parent.mkdir(parents=True, exist_ok=True)
            draft = jar.with_name(f".{jar.name}.{os.getpid()}")
            draft.write_bytes(fetched.read_bytes())
            draft.replace(jar)
    except OSError as error:
        raise CheckerMissing(f"{jar} cannot be written: {error.strerror or error}") from error
    return jar


def _ivy() -> Path:
    try:
        jars = Path(str(distribution("pyspark").locate_file("pyspark/jars")))
    except PackageNotFoundError as error:
        raise CheckerMissing(
            "pyspark, which brings Apache Ivy, is not installed: pip install 'thence[spark]'"
        ) from error
    found = next(iter(sorted(jars.glob("ivy-*.jar"))), None)
    if found is None:
        raise CheckerMissing(f"there is no Apache Ivy in {jars}")
    return found


def _fetch(java: Path, ivy: Path, folder: Path) -> Path:
    fetched = folder / f"{MODULE}.jar"
    command = [str(java), "-jar", str(ivy), "-error", "-cache", str(folder / "cache"), "-confs", "master"]
    command += ["-dependency", ORGANISATION, MODULE, VERSION, "-retrieve", f"{folder}/[artifact].[ext]"]
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=FETCH_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise CheckerMissing(f"{MODULE} {VERSION} did not come within {FETCH_LIMIT_S:.0f} s") from error
    if not fetched.is_file():
        told = [line.strip() for line in (run.stdout + run.stderr).splitlines() if "error" in line.lower()]
        raise CheckerMissing(f"{MODULE} {VERSION} could not be fetched: {told[0][:300] if told else 'no reason given'}")
    if not _is_genuine(fetched):
        raise CheckerMissing(f"what was fetched is not {MODULE} {VERSION}: its SHA-256 differs")
    return fetched


def _is_genuine(jar: Path) -> bool:
    return sha256(jar.read_bytes()).hexdigest() == SHA256


def main() -> int:
    """Install the checker and say where it is."""
    try:
        jar = install()
    except CheckerMissing as missing:
        print(f"thence: no proof checker, so no level L4: {missing}", file=sys.stderr)
        return 2
    print(f"Proof checker: {jar}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
