"""Checkpoints, positions, migrations and rebuilds: what lets the job start again safely."""
