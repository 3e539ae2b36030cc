"""Twelve reference pipelines of an impact platform: small working jobs that emit lineage, as examples to copy."""
