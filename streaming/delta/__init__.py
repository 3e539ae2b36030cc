"""Everything that touches Delta."""
