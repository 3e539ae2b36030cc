"""Background work on the tables: maintenance, retention and what it must wait for."""
