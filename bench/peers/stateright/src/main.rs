//! Cykas as a Stateright model: the states of `cykas.pml`, of `cykas.c` and of Thence's explorer.
//!
//! 3 processes, K messages each to any other, a reliable reordering network; causal delivery, CSPS and "nothing is
//! stuck" are judged. Masks as in `cykas.c`; packets are flags and counts, so that a state is small and flat.
//!
//! cargo run --release -- K THREADS

use stateright::{Checker, Model, Property};
use std::time::Instant;

const P: usize = 3;
const MOST: usize = 9;

#[derive(Clone, Debug, Default, Hash, PartialEq, Eq)]
struct State {
    sends: [u8; P],
    left: [u8; P],
    unack: [u8; P],
    mode: [u8; P],
    /// Masks of processes, each plus 8, four bits each, the oldest lowest.
    waiting: [[u16; P]; P],
    /// In flight: 1 NORMAL, 2 EAGER.
    packet: [u8; MOST],
    ack: [[u8; P]; P],
    yct: [[u8; P]; P],
    /// Undelivered messages in the causal past of a process, and of an undelivered message.
    past: [u16; P],
    past_of: [u16; MOST],
    due: [u16; P],
    /// What a handler did wrong: 0 nothing, 1 causal, 2 csps, 3 a fault.
    wrong: u8,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq)]
enum Step {
    Send(usize, usize),
    Arrive(usize),
    Ack(usize, usize),
    Yct(usize, usize),
}

struct Cykas {
    k: usize,
}

impl Cykas {
    fn destination(&self, s: &State, m: usize) -> usize {
        (0..P).find(|&d| s.due[d] >> m & 1 == 1).expect("undelivered")
    }

    fn try_send_message(&self, s: &mut State, i: usize) {
        while s.mode[i] == 0 && s.left[i] != s.sends[i] {
            let m = i * self.k + s.left[i] as usize;
            let d = self.destination(s, m);
            if s.unack[i] >> d & 1 == 1 {
                return;
            }
            let own = ((1u16 << self.k) - 1) << (i * self.k);
            if s.past_of[m] & !own != 0 {
                s.wrong = 2;
            }
            if s.unack[i] == 0 {
                s.packet[m] = 1;
            } else {
                let mut at = 0;
                while s.waiting[i][d] >> at != 0 {
                    at += 4;
                }
                s.packet[m] = 2;
                s.waiting[i][d] |= (s.unack[i] as u16 + 8) << at;
            }
            s.left[i] += 1;
            s.unack[i] |= 1 << d;
        }
    }

    fn receive(&self, s: &mut State, m: usize) {
        let (i, a) = (m / self.k, self.destination(s, m));
        if s.packet[m] == 2 {
            s.mode[a] += 1;
        }
        s.packet[m] = 0;
        if s.past_of[m] & s.due[a] & !(1 << m) != 0 {
            s.wrong = 1;
        }
        s.past[a] |= s.past_of[m];
        s.past_of[m] = 0;
        s.due[a] &= !(1 << m);
        s.past.iter_mut().chain(s.past_of.iter_mut()).for_each(|each| *each &= !(1 << m));
        s.ack[a][i] += 1;
    }

    fn receive_ack(&self, s: &mut State, i: usize, j: usize) {
        s.ack[i][j] -= 1;
        s.unack[j] &= !(1 << i);
        for r in 0..P {
            let kept = (0..self.k).fold(0, |mask, b| mask | 1u16 << (4 * b + i));
            s.waiting[j][r] &= !kept;
            while s.waiting[j][r] & 15 == 8 && s.unack[j] >> r & 1 == 0 {
                s.yct[j][r] += 1;
                s.waiting[j][r] >>= 4;
            }
        }
        self.try_send_message(s, j);
    }

    fn receive_yct(&self, s: &mut State, i: usize, j: usize) {
        s.yct[i][j] -= 1;
        match s.mode[j] {
            0 => s.wrong = 3,
            _ => s.mode[j] -= 1,
        }
        self.try_send_message(s, j);
    }
}

impl Model for Cykas {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State::default()]
    }

    fn actions(&self, s: &State, steps: &mut Vec<Step>) {
        for i in 0..P {
            for j in (0..P).filter(|&j| j != i) {
                if (s.sends[i] as usize) < self.k {
                    steps.push(Step::Send(i, j));
                }
                if s.ack[i][j] > 0 {
                    steps.push(Step::Ack(i, j));
                }
                if s.yct[i][j] > 0 {
                    steps.push(Step::Yct(i, j));
                }
            }
        }
        steps.extend((0..P * self.k).filter(|&m| s.packet[m] > 0).map(Step::Arrive));
    }

    fn next_state(&self, now: &State, step: Step) -> Option<State> {
        let mut s = now.clone();
        match step {
            Step::Send(i, j) => {
                let m = i * self.k + s.sends[i] as usize;
                s.past_of[m] = s.past[i];
                s.past[i] |= 1 << m;
                s.due[j] |= 1 << m;
                s.sends[i] += 1;
                self.try_send_message(&mut s, i);
            }
            Step::Arrive(m) => self.receive(&mut s, m),
            Step::Ack(i, j) => self.receive_ack(&mut s, i, j),
            Step::Yct(i, j) => self.receive_yct(&mut s, i, j),
        }
        Some(s)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("causal", |_, s: &State| s.wrong != 1),
            Property::always("csps", |_, s: &State| s.wrong != 2),
            Property::always("fault", |_, s: &State| s.wrong != 3),
            Property::always("delivered", |_, s: &State| {
                let flying = s.packet.iter().chain(s.ack.iter().flatten()).chain(s.yct.iter().flatten());
                s.due == [0; P] || flying.copied().any(|each| each > 0)
            }),
        ]
    }
}

fn main() {
    let number = |at: usize| std::env::args().nth(at).and_then(|word| word.parse().ok()).unwrap_or(1usize);
    let (k, threads) = (number(1), number(2));
    let begun = Instant::now();
    let checker = Cykas { k }.checker().threads(threads).spawn_bfs().join();
    let seconds = begun.elapsed().as_secs_f64();
    for (name, _) in checker.discoveries() {
        println!("violated: {name}");
        std::process::exit(1);
    }
    let (states, transitions) = (checker.unique_state_count(), checker.state_count() - 1);
    println!("{states} states, {transitions} transitions, depth {}, {seconds:.3} s", checker.max_depth());
}
