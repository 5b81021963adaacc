"""The commands `thence trace ...`: recorded executions."""
