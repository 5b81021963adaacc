/* Cykas by hand: the states of `cykas.pml` and of thence's explorer, searched breadth first by one thread, as fast as a
   program written for this protocol alone can reasonably be. 3 processes, K messages each to any other, a reliable
   reordering network; causal delivery, CSPS and "nothing is stuck" are judged. Nothing is generated, and nothing can be
   changed: this is the bound that the explorer is measured against.

     cc -O3 -march=native -DK=3 -o cykas cykas.c; ./cykas

   A state has ten words of 32 bits; those of messages and of queues are indexed by i * K + n and by sender and receiver. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifndef K
#define K 2
#endif
#define P 3
#define N (P * K)
#define MOST (1u << (K > 2 ? 23 : 18))
#define PLACES (4u * MOST)
#define RING 32

typedef uint32_t u32;
typedef uint64_t u64;

/* A state at work. waiting[i][r]: up to K masks of processes, each plus 8, four bits each, the oldest lowest. */
typedef struct {
  u32 sends[P], left[P], unack[P], mode[P];
  u32 waiting[P][P];
  u32 packet[N];
  u32 ack, yct; /* two bits for each pair i * P + j */
  u32 past[P], pastof[N], due[P];
} State;

/* Packed: sends, left, unack, mode (27 bits with 3 for mode: 2+2+3+3 each); six queues of 12 bits; 18 bits of packets;
   18 of acknowledgements and of YCTs; 27 of pasts; 81 of pasts of messages; 27 of what is due. */
#define WORDS 5
typedef struct { u64 w[WORDS]; } Row;

static Row *rows;
static u32 *places, count, expanded;
static u64 transitions;
static int depth;

static inline void put(Row *row, int *at, u64 value, int bits) {
  int word = *at >> 6, shift = *at & 63;
  row->w[word] |= value << shift;
  if (shift + bits > 64) row->w[word + 1] |= value >> (64 - shift);
  *at += bits;
}

static inline u32 get(const Row *row, int *at, int bits) {
  int word = *at >> 6, shift = *at & 63;
  u64 value = row->w[word] >> shift;
  if (shift + bits > 64) value |= row->w[word + 1] << (64 - shift);
  *at += bits;
  return (u32)(value & ((1ull << bits) - 1));
}

#define FIELDS(each)                                                                                       \
  for (int i = 0; i < P; i++) { each(s->sends[i], 2) each(s->left[i], 2) each(s->unack[i], 3) each(s->mode[i], 3) } \
  for (int i = 0; i < P; i++) for (int r = 0; r < P; r++) if (i != r) each(s->waiting[i][r], 4 * K)         \
  for (int m = 0; m < N; m++) each(s->packet[m], 2)                                                        \
  each(s->ack, 18) each(s->yct, 18)                                                                        \
  for (int i = 0; i < P; i++) { each(s->past[i], N) each(s->due[i], N) }                                   \
  for (int m = 0; m < N; m++) each(s->pastof[m], N)

static inline void pack(const State *s, Row *row) {
  int at = 0;
  memset(row, 0, sizeof *row);
#define WRITE(field, bits) put(row, &at, field, bits);
  FIELDS(WRITE)
}

static inline void unpack(const Row *row, State *s) {
  int at = 0;
#define READ(field, bits) field = get(row, &at, bits);
  FIELDS(READ)
}

static void wrong(const char *what) {
  printf("violated: %s\n", what);
  exit(1);
}

/* --- the store: a ring gives memory time to answer ------------------------------------------------------------- */

static struct { Row row; u64 hash; } ring[RING];
static u64 entered;

static inline u64 hash_of(const Row *row) {
  u64 h = 0;
  for (int at = 0; at < WORDS; at++) {
    h = (h ^ row->w[at]) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 32;
  }
  return h;
}

static inline void finish(int slot) {
  const Row *row = &ring[slot].row;
  u64 h = ring[slot].hash;
  u32 tag = (u32)(h >> 32) & ~(PLACES - 1);
  for (u32 at = h & (PLACES - 1);; at = (at + 1) & (PLACES - 1)) {
    u32 seen = places[at];
    if (!seen) {
      if (count == MOST) { puts("too many states"); exit(2); }
      rows[count] = *row;
      places[at] = ++count | tag;
      return;
    }
    if ((seen & ~(PLACES - 1)) == tag && !memcmp(&rows[(seen & (PLACES - 1)) - 1], row, sizeof *row)) return;
  }
}

static inline void found(const State *s) {
  int slot = entered % RING;
  if (entered >= RING) finish(slot);
  pack(s, &ring[slot].row);
  ring[slot].hash = hash_of(&ring[slot].row);
  __builtin_prefetch(&places[ring[slot].hash & (PLACES - 1)]);
  if (entered >= RING / 2) {
    u64 h = ring[(entered - RING / 2) % RING].hash;
    u32 seen = places[h & (PLACES - 1)];
    if (seen) __builtin_prefetch(&rows[(seen & (PLACES - 1)) - 1]);
  }
  entered++;
  transitions++;
}

static void flush(void) {
  for (u64 at = entered > RING ? entered - RING : 0; at < entered; at++) finish(at % RING);
  entered = 0;
}

/* --- the protocol ---------------------------------------------------------------------------------------------- */

#define OWN(i) ((((1u << K) - 1)) << ((i) * K))

static inline void try_send_message(State *s, int i) {
  while (!s->mode[i] && s->left[i] != s->sends[i]) {
    int m = i * K + s->left[i], d = 0;
    while (!(s->due[d] >> m & 1)) d++;
    if (s->unack[i] >> d & 1) break;
    if (s->pastof[m] & ~OWN(i)) wrong("csps");
    if (!s->unack[i]) s->packet[m] = 1;
    else {
      u32 *queue = &s->waiting[i][d];
      int at = 0;
      while (*queue >> at) at += 4;
      s->packet[m] = 2;
      *queue |= (s->unack[i] + 8) << at;
    }
    s->left[i]++;
    s->unack[i] |= 1u << d;
  }
}

static inline void judge_rest(const State *s) {
  u32 flying = s->ack | s->yct;
  if (!(s->due[0] | s->due[1] | s->due[2])) return;
  for (int m = 0; m < N; m++) flying |= s->packet[m];
  if (!flying) wrong("delivered");
}

static inline void application_send(State *s, int i, int j) {
  int m = i * K + s->sends[i];
  s->pastof[m] = s->past[i];
  s->past[i] |= 1u << m;
  s->due[j] |= 1u << m;
  s->sends[i]++;
  try_send_message(s, i);
}

static inline void receive(State *s, int m, int i) {
  int a = 0;
  while (!(s->due[a] >> m & 1)) a++;
  if (s->packet[m] == 2) s->mode[a]++;
  s->packet[m] = 0;
  if (s->pastof[m] & s->due[a] & ~(1u << m)) wrong("causal");
  s->past[a] |= s->pastof[m];
  s->pastof[m] = 0;
  s->due[a] &= ~(1u << m);
  for (int c = 0; c < P; c++) s->past[c] &= ~(1u << m);
  for (int c = 0; c < N; c++) s->pastof[c] &= ~(1u << m);
  s->ack += 1u << 2 * (a * P + i);
}

static inline void receive_ack(State *s, int i, int j) {
  s->ack -= 1u << 2 * (i * P + j);
  s->unack[j] &= ~(1u << i);
  for (int r = 0; r < P; r++) {
    u32 kept = 0;
    for (int b = 0; b < K; b++) kept |= 1u << (4 * b + i);
    s->waiting[j][r] &= ~kept;
    while ((s->waiting[j][r] & 15) == 8 && !(s->unack[j] >> r & 1)) {
      s->yct += 1u << 2 * (j * P + r);
      s->waiting[j][r] >>= 4;
    }
  }
  try_send_message(s, j);
}

static inline void receive_yct(State *s, int i, int j) {
  s->yct -= 1u << 2 * (i * P + j);
  if (!s->mode[j]) wrong("fault");
  s->mode[j]--;
  try_send_message(s, j);
}

static void expand(const Row *row) {
  State now, then, *s = &now;
  memset(s, 0, sizeof *s);
  unpack(row, s);
  judge_rest(s);
#define TAKE(step) { then = now; step; found(&then); }
  for (int i = 0; i < P; i++)
    for (int j = 0; j < P; j++) {
      if (i == j) continue;
      if (now.sends[i] < K) TAKE(application_send(&then, i, j))
      if (now.ack >> 2 * (i * P + j) & 3) TAKE(receive_ack(&then, i, j))
      if (now.yct >> 2 * (i * P + j) & 3) TAKE(receive_yct(&then, i, j))
    }
  for (int m = 0; m < N; m++)
    if (now.packet[m]) TAKE(receive(&then, m, m / K))
}

static void *reserve(size_t size) {
  void *at = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) { perror("memory"); exit(2); }
  madvise(at, size, MADV_HUGEPAGE);
  return at;
}

int main(void) {
  struct timespec a, b;
  State start;
  rows = reserve(sizeof(Row) * (size_t)MOST);
  places = reserve(sizeof(u32) * (size_t)PLACES);
  clock_gettime(CLOCK_MONOTONIC, &a);
  memset(&start, 0, sizeof start);
  pack(&start, &rows[0]);
  places[hash_of(&rows[0]) & (PLACES - 1)] = 1 | ((u32)(hash_of(&rows[0]) >> 32) & ~(PLACES - 1));
  count = 1;
  while (expanded < count) {
    u32 end = count;
    for (; expanded < end; expanded++) expand(&rows[expanded]);
    flush();
    depth += count > end;
  }
  clock_gettime(CLOCK_MONOTONIC, &b);
  double seconds = (b.tv_sec - a.tv_sec) + 1e-9 * (b.tv_nsec - a.tv_nsec);
  printf("%u states, %llu transitions, depth %d, %.3f s\n", count, (unsigned long long)transitions, depth, seconds);
  return 0;
}
