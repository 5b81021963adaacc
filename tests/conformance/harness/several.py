"""A foreign system that holds several cases, and does something wrong with them: several.py WHAT AT.

It hands over whatever arrives, in the order of arrival. WHAT happens in batch AT, counted from 1; `alone` in none; or,
where AT is the name of a message, when that message arrives, in a batch or alone.
"""

import json
import os
import sys

WHAT, MESSAGE = sys.argv[1], sys.argv[2]
AT = int(MESSAGE) if MESSAGE.isdigit() else 0
batches = 0
seen = []
answers = {}


def answer(request):
    match request["request"]:
        case "init":
            for process in request["hosts"]:
                answers[place(request, process)] = []
            several = {} if WHAT == "alone" else {"cases": 0 if WHAT == "no number" else 8}
            return {
                "version": "thence-exec/1",
                "timers": WHAT == "other" and "case" in request and batches == AT,
                **several,
            }
        case "send":
            return {"events": [packet(request)]}
        case "react":
            answers[place(request, request["process"])].append(request)
            return {"events": []}
        case "receive":
            message = request["packet"]
            if message == MESSAGE:
                match WHAT:
                    case "dies":
                        os._exit(3)
                    case "hangs":
                        sys.stdin.read()
                    case "error":
                        return {"error": f"no {message}"}
                    case "strange":
                        return {"events": [{"what": 1}]}
            if WHAT == "mixes" and batches:
                seen.append(message)
                message = seen[0]
            events = [{"deliver": message}]
            waiting = answers[place(request, request["process"])]
            while waiting:
                events += [{"sent": waiting[0]["message"]}, packet(waiting.pop(0))]
            return {"events": events}


def place(request, process):
    return request.get("case"), process


def packet(request):
    return {"packet": request["message"], "to": request["destinations"], "message": request["message"]}


def batch(requests):
    replies = [answer(one) for one in requests]
    if batches == AT:
        match WHAT:
            case "dies":
                os._exit(3)
            case "hangs":
                sys.stdin.read()
            case "few":
                replies.pop()
            case "many":
                replies.append({"events": []})
            case "none":
                return {"events": []}
            case "text":
                replies[-1] = "done"
            case "error":
                replies[-1] = {"error": "too many"}
            case "strange":
                replies[-1] = {"events": [{"what": 1}]}
    return {"replies": replies}


for line in sys.stdin:
    asked = json.loads(line)
    if asked["request"] == "batch":
        batches += 1
        reply = batch(asked["requests"])
    else:
        reply = answer(asked)
    print(json.dumps(reply), flush=True)
