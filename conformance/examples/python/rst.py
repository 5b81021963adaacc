"""A small implementation of causal unicast (Raynal, Schiper, Toueg 1991), with the network left to the caller."""


class RST:
    """One process. `sent[k][l]`: how many messages k is known to have sent to l."""

    def __init__(self, identity, processes, transmit, deliver):
        self.identity = identity
        self.sent = [[0] * processes for _ in range(processes)]
        self.delivered = [0] * processes
        self.waiting = []
        self.transmit, self.deliver = transmit, deliver

    def send(self, destination, text):
        self.transmit(destination, {"text": text, "sent": [row[:] for row in self.sent]})
        self.sent[self.identity][destination] += 1

    def receive(self, source, packet):
        self.waiting.append((source, packet))
        while any(self.is_next(packet) for _, packet in self.waiting):
            for mail in self.waiting[:]:
                if self.is_next(mail[1]):
                    self.waiting.remove(mail)
                    self.hand_over(*mail)

    def is_next(self, packet):
        return all(mine >= row[self.identity] for mine, row in zip(self.delivered, packet["sent"], strict=True))

    def hand_over(self, source, packet):
        self.delivered[source] += 1
        self.sent[source][self.identity] += 1
        self.merge(packet["sent"])
        self.deliver(source, packet["text"])

    def merge(self, theirs):
        self.sent = [
            [max(a, b) for a, b in zip(mine, other, strict=True)] for mine, other in zip(self.sent, theirs, strict=True)
        ]


class FaultyRST(RST):
    """Forgets what it learns: a message may overtake one that its sender had only heard of."""

    def merge(self, theirs):
        pass
