"""An adapter in front of another one: refuses channels that the system lacks; see docs/reference/conformance.md."""

from __future__ import annotations

import json
import subprocess
import sys

with subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as child:
    assert child.stdin is not None and child.stdout is not None
    for line in sys.stdin:
        request = json.loads(line)
        if request["request"] == "init" and request["channels"] != sys.argv[1]:
            print(json.dumps({"error": f"{request['channels']} is not what I do"}), flush=True)
            continue
        child.stdin.write(line)
        child.stdin.flush()
        print(child.stdout.readline(), end="", flush=True)
