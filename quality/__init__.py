"""Whether the tables can be trusted."""

import os

# Before Great Expectations is imported by a module of ours: it would report its users, and wait for the network.
os.environ["GX_ANALYTICS_ENABLED"] = "false"
