"""thence-exec/1 around rst.py: one JSON object a line on standard input, one in reply. --faulty: the faulty version."""

import json
import sys

from rst import RST, FaultyRST

make = FaultyRST if "--faulty" in sys.argv else RST
processes, answers, events = {}, {}, []


def start(identity, count):
    """Process `identity`; what it puts on the network and hands over becomes an event of the current reply."""

    def transmit(destination, packet):
        events.append({"packet": packet, "to": destination, "kind": "MSG", "message": packet["text"]})

    def deliver(source, text):
        events.append({"deliver": text, "from": source})
        while answers[identity]:  # the application answers from inside the delivery
            destination, answer = answers[identity].pop(0)
            events.append({"sent": answer})
            processes[identity].send(destination, answer)

    answers[identity] = []
    processes[identity] = make(identity, count, transmit, deliver)


def handle(request):
    events.clear()
    identity = request.get("process")
    match request["request"]:
        case "init":
            for identity in request["hosts"]:
                start(identity, request["processes"])
            return {"version": "thence-exec/1", "timers": False, "kinds": True}
        case "send":
            processes[identity].send(request["destinations"][0], request["message"])
        case "react":
            answers[identity].append((request["destinations"][0], request["message"]))
        case "receive":
            processes[identity].receive(request["from"], request["packet"])
        case "tick":
            pass
    return {"events": events}


for line in sys.stdin:
    try:
        reply = handle(json.loads(line))
    except Exception as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), flush=True)
