"""Everything that reads or writes Delta tables with Spark."""
