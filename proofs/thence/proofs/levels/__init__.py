"""Numbers that grow for ever, up to what can be told of them: only their order, and how near they are to each other."""
