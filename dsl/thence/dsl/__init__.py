"""The language: text to syntax to typed IR, and the interpreter, the one definition of a step."""
