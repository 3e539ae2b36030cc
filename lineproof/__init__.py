"""lineproof: lineage you can prove."""
