/* Cykas (Tong, Liittschwager, Kuper, Algorithms 1-5, Algorithm 4 repaired) among P = 3 processes that send K messages
   each to any other, on a reliable reordering network; every handler is one d_step. The state is that of thence's
   explorer: the paper's variables, packets in flight as a multiset, causal pasts over undelivered messages.
   Message P-th block: i*K + n is the n-th message of process i. 52,521 states for K=2, 5,022,640 for K=3.

     spin -DK=3 -a cykas.pml; cc -O3 -DSAFETY -DNOREDUCE -DMEMLIM=8192 -o pan pan.c; ./pan -m100000 -w25 -E
*/
#ifndef K
#define K 2
#endif
#define P 3
#define N (P * K)
#define OWN(i) (((1 << K) - 1) << ((i) * K))

byte sends[P];            /* application sends made */
byte left[P];             /* of these, how many left the output buffer OB */
byte unack[P];            /* UNACK, a mask of processes */
byte mode[P];             /* MODE */
byte waiting[P * P * K];  /* EAGER_SENT[i][r]: masks of processes plus 8, the oldest first, then zeros */
byte packet[N];           /* in flight: 1 NORMAL, 2 EAGER */
byte ack[P * P];          /* in flight from i to j */
byte yct[P * P];
short past[P];            /* by process: undelivered messages in its causal past */
short pastof[N];          /* by message, while it is undelivered */
short due[P];             /* by destination: undelivered messages */

hidden byte a, b, c, d, q, r, m;
hidden short some;

inline destination(msg) {
  d = 0;
  do
  :: ((due[d] >> (msg)) & 1) -> break
  :: else -> d++
  od
}

inline try_send_message(i) {
  do
  :: mode[i] > 0 || left[i] == sends[i] -> break
  :: else ->
    m = (i) * K + left[i];
    destination(m);
    if
    :: (unack[i] >> d) & 1 -> break
    :: else ->
      assert((pastof[m] & ~OWN(i)) == 0);       /* CSPS */
      if
      :: unack[i] == 0 -> packet[m] = 1
      :: else ->
        packet[m] = 2;
        q = ((i) * P + d) * K;
        do
        :: waiting[q] == 0 -> break
        :: else -> q++
        od;
        waiting[q] = unack[i] + 8
      fi;
      left[i]++;
      unack[i] = unack[i] | (1 << d)
    fi
  od
}

inline try_send_yct(i, to) {
  q = ((i) * P + (to)) * K;
  do
  :: waiting[q] != 8 || ((unack[i] >> (to)) & 1) -> break
  :: else ->
    yct[(i) * P + (to)]++;
    b = 0;
    do
    :: b == K - 1 -> break
    :: else -> waiting[q + b] = waiting[q + b + 1]; b++
    od;
    waiting[q + K - 1] = 0
  od
}

inline stuck() {                                /* nothing in flight: everything must have been delivered */
  if
  :: (due[0] | due[1] | due[2]) == 0 -> skip
  :: else ->
    some = 0;
    c = 0;
    do
    :: c == P * P -> break
    :: else -> some = some + ack[c] + yct[c]; c++
    od;
    c = 0;
    do
    :: c == N -> break
    :: else -> some = some + packet[c]; c++
    od;
    assert(some > 0)
  fi
}

inline application_send(i, j) {
  m = (i) * K + sends[i];
  pastof[m] = past[i];
  past[i] = past[i] | (1 << m);
  due[j] = due[j] | (1 << m);
  sends[i]++;
  try_send_message(i);
  stuck()
}

inline receive(msg, i) {
  destination(msg);
  a = d;
  some = 1 << (msg);
  if
  :: packet[msg] == 2 -> mode[a]++
  :: else -> skip
  fi;
  packet[msg] = 0;
  assert((pastof[msg] & due[a] & ~some) == 0);   /* causal, and with it FIFO */
  past[a] = past[a] | pastof[msg];
  pastof[msg] = 0;
  due[a] = due[a] & ~some;
  c = 0;
  do
  :: c == P -> break
  :: else -> past[c] = past[c] & ~some; c++
  od;
  c = 0;
  do
  :: c == N -> break
  :: else -> pastof[c] = pastof[c] & ~some; c++
  od;
  ack[a * P + (i)]++;
  stuck()
}

inline receive_ack(i, j) {                      /* j has it, from i */
  ack[(i) * P + (j)]--;
  unack[j] = unack[j] & ~(1 << (i));
  r = 0;
  do
  :: r == P -> break
  :: else ->
    q = ((j) * P + r) * K;
    b = 0;
    do
    :: b == K -> break
    :: else -> waiting[q + b] = waiting[q + b] & ~(1 << (i)); b++
    od;
    try_send_yct(j, r);
    r++
  od;
  try_send_message(j);
  stuck()
}

inline receive_yct(i, j) {
  yct[(i) * P + (j)]--;
  assert(mode[j] > 0);
  mode[j]--;
  try_send_message(j);
  stuck()
}

#define PAIR(i, j) \
  :: d_step { sends[i] < K -> application_send(i, j) } \
  :: d_step { ack[i * P + j] > 0 -> receive_ack(i, j) } \
  :: d_step { yct[i * P + j] > 0 -> receive_yct(i, j) }
#define ARRIVAL(i, n) \
  :: d_step { packet[i * K + n] > 0 -> receive(i * K + n, i) }

init {
  do
  PAIR(0, 1) PAIR(0, 2) PAIR(1, 0) PAIR(1, 2) PAIR(2, 0) PAIR(2, 1)
  ARRIVAL(0, 0) ARRIVAL(1, 0) ARRIVAL(2, 0)
#if K > 1
  ARRIVAL(0, 1) ARRIVAL(1, 1) ARRIVAL(2, 1)
#endif
#if K > 2
  ARRIVAL(0, 2) ARRIVAL(1, 2) ARRIVAL(2, 2)
#endif
  od
}
