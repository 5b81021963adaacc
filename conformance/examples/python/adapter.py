"""thence-exec/1 around rst.py: one JSON object a line on standard input, one in reply. --faulty: the faulty version."""

import json
import sys

from rst import RST, FaultyRST

make = FaultyRST if "--faulty" in sys.argv else RST
cases = {}


class Case:
    """Everything that one case has; nothing of it is anywhere else, so that many can be under way."""

    def __init__(self, hosts, count):
        self.processes, self.answers, self.events = {}, {}, []
        for identity in hosts:
            self.start(identity, count)

    def start(self, identity, count):
        """Process `identity`; what it puts on the network and hands over becomes an event of the current reply."""

        def transmit(destination, packet):
            self.events.append({"packet": packet, "to": destination, "kind": "MSG", "message": packet["text"]})

        def deliver(source, text):
            self.events.append({"deliver": text, "from": source})
            while answers:  # the application answers from inside the delivery
                destination, answer = answers.pop(0)
                self.events.append({"sent": answer})
                self.processes[identity].send(destination, answer)

        answers = self.answers[identity] = []
        self.processes[identity] = make(identity, count, transmit, deliver)

    def handle(self, request):
        self.events = []
        identity = request["process"]
        match request["request"]:
            case "send":
                self.processes[identity].send(request["destinations"][0], request["message"])
            case "react":
                self.answers[identity].append((request["destinations"][0], request["message"]))
            case "receive":
                self.processes[identity].receive(request["from"], request["packet"])
            case "tick":
                pass
        return {"events": self.events}


def handle(request):
    number = request.get("case", 0)
    match request["request"]:
        case "batch":
            return {"replies": [answer(one) for one in request["requests"]]}
        case "init":
            cases[number] = Case(request["hosts"], request["processes"])
            return {"version": "thence-exec/1", "timers": False, "kinds": True, "cases": 64}
        case _:
            return cases[number].handle(request)


def answer(request):
    try:
        return handle(request)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
