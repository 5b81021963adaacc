"""The commands that compare and measure."""
