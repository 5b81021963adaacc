"""A small protocol whose link is proved, also where the file does not say so."""

POST = """
machine posts:
  relation posted(m: message)
  transition causal_send(m):
    posted(m) := true
  transition deliver(m):
    require posted(m) and not delivered(m)
  invariant had_sent: forall m. posted(m) implies sent(m)
  prove at_most_once, no_creation

protocol post:
  network duplicating, reordering
  message LETTER(m: message) carries m
  state:
    read: set of message
    counted: nat
  on causal_send(m): send LETTER(m) to m.dst
  on receive LETTER(m) from j:
    if m not in read:
      read.add(m)
      deliver m
  property at_most_once, no_creation

scope small of post:
  processes 2
  sends 2, 1

conforms post to posts:
  causal_send(m) is causal_send(m)
  deliver m      is deliver(m)
  invariant on_its_way: forall LETTER(m) from p to q in flight. posted(m) and dst(m) = q
  invariant has_read: forall p: process, m: message. delivered(m) and dst(m) = p implies m in read@p
"""
