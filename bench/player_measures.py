"""What the player takes to show a long recording, in chromium.

python bench/player_measures.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from late_violation import write_late_violation

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.browser import Browser, started

LARGE = 1_000_000
SMOOTH = 10_000
PROCESSES = 32

FRAMES = """
const [move, done] = [arguments[0], arguments[1]];
const host = document.getElementById("diagram");
const run = host.querySelector("svg").parentElement.offsetWidth;
const times = [];
const frame = (now) => {
  times.push(now);
  if (times.length > 200) { done(times); return; }
  if (move === "scroll") host.scrollLeft = ((times.length * 1777) % run);
  else document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
  requestAnimationFrame(frame);
};
requestAnimationFrame(frame);
"""
"""The times of 200 frames, while the picture is scrolled far, or the cursor goes back step by step."""


def until_shown(browser: Browser, file: Path) -> float:
    """Seconds from the command to the violation in the page."""
    begun = time.perf_counter()
    command = [str(Path(sys.executable).with_name("thence")), "play", str(file), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = next(word for line in server.stdout for word in line.split() if word.startswith("http://127"))
            browser.driver.get(address)
            while not browser.run("return document.querySelectorAll('#diagram circle.wrong').length"):
                time.sleep(0.02)
            return time.perf_counter() - begun
        finally:
            server.terminate()


def frames(browser: Browser, move: str) -> Sequence[float]:
    """Milliseconds from frame to frame, ascending."""
    times: list[float] = browser.driver.execute_async_script(FRAMES, move)
    return sorted(after - before for before, after in pairwise(times))


def measures() -> Iterator[tuple[str, Any]]:
    """Names and figures."""
    with tempfile.TemporaryDirectory() as folder, started() as browser:
        browser.resize(1400)
        browser.driver.set_script_timeout(120)
        for events in (LARGE, SMOOTH):
            file = Path(folder) / f"{events}.ndjson"
            write_late_violation(file, events=events, processes=PROCESSES)
            yield f"player-opens-{events}", f"{until_shown(browser, file):.1f} s"
        for move in ("scroll", "scrub"):
            taken = frames(browser, move)
            slow = taken[len(taken) * 95 // 100]
            yield f"player-{move}-{SMOOTH}", f"{median(taken):.0f} ms a frame, 95 of 100 within {slow:.0f} ms"


if __name__ == "__main__":
    for name, figure in measures():
        print(f"{name}: {figure}", flush=True)
