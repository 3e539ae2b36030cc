"""The read routes of Marquez's API over lineproof's tables: for clients and pages that were written for Marquez."""
