"""The commands `thence campaign ...`: conformance campaigns on Spark."""
