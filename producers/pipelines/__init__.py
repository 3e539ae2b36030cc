"""The twelve critical pipelines of an impact platform: small real jobs that emit their lineage, for others to copy."""
