"""A foreign system that delivers whatever arrives, and misbehaves as its argument says. Not a test: a program.

python misbehaving.py WHAT [AT]: at its AT-th request after init, and from then on; without AT, from the first init on.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

WHAT = sys.argv[1]
AT = int(sys.argv[2]) if len(sys.argv) > 2 else None
asked = 0
hoard: list[bytearray] = []


def out(text: str | bytes) -> None:
    data = text.encode() if isinstance(text, str) else text
    while data:
        data = data[os.write(1, data) :]


def sleep_for_ever() -> None:
    while True:
        time.sleep(1)


def misbehave() -> None:
    match WHAT:
        case "hang":
            sleep_for_ever()
        case "busy":
            while True:
                pass
        case "exit":
            print("so long", file=sys.stderr, flush=True)
            sys.exit(7)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "garbage":
            out("Hello\n")
        case "binary":
            out(b"\xff\xfe\x00\x1b[31m\n")
        case "list":
            out("[]\n")
        case "deep":
            out("[" * 100_000 + "\n")
        case "digits":
            out('{"events": [{"deliver": ' + "9" * 10_000 + "}]}\n")
        case "nan":
            out('{"events": [{"packet": NaN, "to": 0}]}\n')
        case "nothing":
            out("{}\n")
        case "partial":
            out('{"eve')
            sleep_for_ever()
        case "huge":
            while True:
                out("x" * 100_000)
        case "fat":
            out(json.dumps({"events": [], "padding": "x" * 3_900_000}) + "\n")
        case "closed":
            os.close(1)
            sleep_for_ever()
        case "twice":
            out('{"events": []}\n{"events": []}\n')
        case "parting":
            out('{"events": []}\n')
            sys.exit(5)
        case "flood":
            while True:
                os.write(2, b"complaint " * 1000 + b"\n")
        case "greedy":
            hoard.append(bytearray(os.urandom(1)) * 400_000_000)
            sleep_for_ever()
        case "greedy child":
            program = "import time; hoard = bytearray(b'x') * 400_000_000; time.sleep(600)"
            subprocess.Popen(
                [sys.executable, "-c", program], start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            sleep_for_ever()
        case "growing":
            hoard.append(bytearray(b"x") * 60_000_000)
            out('{"events": []}\n')
        case "nowhere":
            out('{"events": [{"packet": 1, "to": 9}]}\n')
        case "strange":
            out('{"events": [{"receive": "m"}]}\n')
        case "unasked":
            out('{"events": [{"sent": "m0.9"}]}\n')
        case "surrogate":
            out('{"events": [{"deliver": "\\ud800\\u001b[31m' + "m" * 1000 + '"}]}\n')
        case "error":
            out('{"error": "no such thing"}\n')
        case "echo":
            out(line)
        case "version":
            out('{"version": "thence-exec/9"}\n')
        case "grandchild":
            # Away from our session, our group and our standard streams.
            child = "import time, sys; time.sleep(600)"
            subprocess.Popen(
                [sys.executable, "-c", child, os.environ.get("MARK", "")],
                start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            sleep_for_ever()
        case _:
            raise ValueError(WHAT)


if WHAT == "stubborn":
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)

for line in sys.stdin:
    request = json.loads(line)
    if request["request"] == "init":
        asked = 0
        if AT is None and WHAT != "stubborn":
            misbehave()
            continue
        out('{"version": "thence-exec/1", "timers": false, "react": false}\n')
        continue
    asked += 1
    if AT is not None and asked >= AT and WHAT != "stubborn":
        misbehave()
        continue
    events: list[dict[str, object]] = []
    if request["request"] == "send":
        message = request["message"]
        events = [{"packet": message, "to": request["destinations"], "message": message}]
    elif request["request"] == "receive":
        events = [{"deliver": request["packet"]}]
    out(json.dumps({"events": events}) + "\n")

if WHAT == "stubborn":
    sleep_for_ever()
