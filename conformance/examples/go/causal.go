package main

// A small implementation of causal unicast (Mattern and Fünfrocken 1994): a process has one message at a time on the
// way, and sends the next one only when the last has been acknowledged.

type Packet struct {
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"`
}

type Process struct {
	Faulty   bool
	Transmit func(destination int, packet Packet)
	Deliver  func(source int, text string)
	buffer   []outgoing
	awaited  map[int]bool // whose acknowledgements are still to come
}

type outgoing struct {
	destination int
	text        string
}

func (p *Process) Send(destination int, text string) {
	p.buffer = append(p.buffer, outgoing{destination, text})
	p.post()
}

func (p *Process) Receive(source int, packet Packet) {
	if packet.Kind == "ACK" {
		delete(p.awaited, source)
		p.post()
	} else {
		p.Transmit(source, Packet{Kind: "ACK"})
		p.Deliver(source, packet.Text)
	}
}

func (p *Process) post() {
	for len(p.buffer) > 0 && !p.mustWait(p.buffer[0].destination) {
		next := p.buffer[0]
		p.buffer = p.buffer[1:]
		p.awaited[next.destination] = true
		p.Transmit(next.destination, Packet{Kind: "MSG", Text: next.text})
	}
}

// The faulty version waits for the acknowledgement of the same receiver only: one message on the way to each.
func (p *Process) mustWait(destination int) bool {
	if p.Faulty {
		return p.awaited[destination]
	}
	return len(p.awaited) > 0
}
