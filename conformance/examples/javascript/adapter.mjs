// thence-exec/1 around causal.mjs: one JSON object a line on standard input, one in reply. --faulty: the faulty version.

import { createInterface } from "node:readline";
import { Causal, FaultyCausal } from "./causal.mjs";

const Process = process.argv.includes("--faulty") ? FaultyCausal : Causal;
let processes, answers, events;

function start(identity, count) {
  const transmit = (to, packet) => events.push({ packet, to, message: packet.text });
  const deliver = (from, text) => {
    events.push({ deliver: text, from });
    // The application answers from inside the delivery.
    for (const { destinations, message } of answers[identity].splice(0)) {
      events.push({ sent: message });
      processes[identity].send(destinations[0], message);
    }
  };
  answers[identity] = [];
  processes[identity] = new Process(identity, count, transmit, deliver);
}

function handle(request) {
  events = [];
  switch (request.request) {
    case "init":
      processes = {};
      answers = {};
      for (const identity of request.hosts) start(identity, request.processes);
      return { version: "thence-exec/1", timers: false };
    case "send":
      processes[request.process].send(request.destinations[0], request.message);
      break;
    case "react":
      answers[request.process].push(request);
      break;
    case "receive":
      processes[request.process].receive(request.from, request.packet);
      break;
  }
  return { events };
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = handle(JSON.parse(line));
  } catch (error) {
    reply = { error: String(error) };
  }
  process.stdout.write(JSON.stringify(reply) + "\n");
}
