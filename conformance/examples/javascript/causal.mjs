// A small implementation of causal unicast with vector clocks (after Schiper, Eggli and Sandoz 1989): a packet carries
// the sender's clock and, for each process, the clock of the last message to it that the sender knows of.

const atLeast = (a, b) => b.every((count, i) => a[i] >= count);
const maximum = (a, b) => a.map((count, i) => Math.max(count, b[i]));

export class Causal {
  constructor(identity, processes, transmit, deliver) {
    Object.assign(this, { identity, transmit, deliver });
    this.clock = new Array(processes).fill(0);
    this.last = {}; // process -> clock of the last known message to it
    this.waiting = [];
  }

  send(destination, text) {
    this.clock[this.identity] += 1;
    this.transmit(destination, { text, clock: [...this.clock], last: { ...this.last } });
    this.last[destination] = [...this.clock];
  }

  receive(source, packet) {
    this.waiting.push([source, packet]);
    for (let at; (at = this.waiting.findIndex(([, one]) => this.isNext(one))) >= 0; ) {
      const [[from, next]] = this.waiting.splice(at, 1);
      this.learn(next);
      this.deliver(from, next.text);
    }
  }

  isNext(packet) {
    const needed = packet.last[this.identity];
    return needed === undefined || atLeast(this.clock, needed);
  }

  learn(packet) {
    for (const [process, clock] of Object.entries(packet.last)) {
      if (Number(process) !== this.identity) {
        this.last[process] = this.last[process] ? maximum(this.last[process], clock) : clock;
      }
    }
    this.clock = maximum(this.clock, packet.clock);
  }
}

// Tells the application first, and takes note afterwards: an answer from inside the delivery knows nothing of it.
export class FaultyCausal extends Causal {
  receive(source, packet) {
    this.waiting.push([source, packet]);
    for (let at; (at = this.waiting.findIndex(([, one]) => this.isNext(one))) >= 0; ) {
      const [[from, next]] = this.waiting.splice(at, 1);
      this.deliver(from, next.text);
      this.learn(next);
    }
  }
}
