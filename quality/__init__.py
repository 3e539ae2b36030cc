"""Whether the tables can be trusted."""
