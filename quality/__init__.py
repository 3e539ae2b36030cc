"""Data quality: Great Expectations suites over the tables, with results that are lineage themselves."""

import os

# Set before a module of ours imports Great Expectations, which otherwise reports usage and waits for the network.
os.environ["GX_ANALYTICS_ENABLED"] = "false"
