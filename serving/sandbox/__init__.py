"""SQL of others: one SELECT over the tables, checked, and run in a process of its own with little memory and time."""
