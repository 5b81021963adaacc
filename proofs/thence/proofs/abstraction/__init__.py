"""Any number of messages: a finite set of abstract states that every run stays in, and why that is sound."""
