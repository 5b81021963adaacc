// thence-exec/1 around causal.go: one JSON object a line on standard input, one in reply. --faulty: the faulty version.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

type Request struct {
	Request      string
	Process      int
	Processes    int
	Hosts        []int
	Destinations []int
	Message      string
	From         int
	Packet       Packet
}

type object = map[string]any

var processes map[int]*Process
var answers map[int][]Request
var events []object

func start(identity int) {
	process := &Process{Faulty: len(os.Args) > 1 && os.Args[1] == "--faulty", awaited: map[int]bool{}}
	process.Transmit = func(to int, packet Packet) {
		event := object{"packet": packet, "to": to, "kind": packet.Kind}
		if packet.Text != "" {
			event["message"] = packet.Text
		}
		events = append(events, event)
	}
	process.Deliver = func(from int, text string) {
		events = append(events, object{"deliver": text, "from": from})
		waiting := answers[identity]
		answers[identity] = nil
		for _, answer := range waiting { // the application answers from inside the delivery
			events = append(events, object{"sent": answer.Message})
			process.Send(answer.Destinations[0], answer.Message)
		}
	}
	processes[identity] = process
}

func handle(line []byte) object {
	request := Request{}
	if err := json.Unmarshal(line, &request); err != nil {
		return object{"error": err.Error()}
	}
	events = []object{}
	switch request.Request {
	case "init":
		processes, answers = map[int]*Process{}, map[int][]Request{}
		for _, identity := range request.Hosts {
			start(identity)
		}
		return object{"version": "thence-exec/1", "timers": false, "kinds": true}
	case "send":
		processes[request.Process].Send(request.Destinations[0], request.Message)
	case "react":
		answers[request.Process] = append(answers[request.Process], request)
	case "receive":
		processes[request.Process].Receive(request.From, request.Packet)
	}
	return object{"events": events}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		reply, _ := json.Marshal(handle(lines.Bytes()))
		fmt.Println(string(reply))
	}
}
