"""Which executions there are, of which kinds they are, and which of them a protocol generates."""
