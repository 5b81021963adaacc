"""Counter abstraction: any number of messages by a finite set of abstract states.

Begin with `search`. The abstraction itself is `counter_abstraction`; `discipline`, `balance`, `prompt_sends` and
`silent_arrivals` check what makes it sound.
"""
