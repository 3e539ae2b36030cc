"""Query the tables from a notebook or a script, without Spark. Each `# %%` starts a notebook cell.

Run it after `make demo`, or while `lineproof up` is running: `python examples/query.py`.
Tables and views: docs/tables.md.
"""

# %% The tables are plain Delta tables: any Delta reader can open them.
import os
from pathlib import Path

import duckdb
from deltalake import DeltaTable

TABLES = Path(os.environ.get("LINEPROOF_HOME", ".lineproof")) / "tables"

runs = DeltaTable(str(TABLES / "runs")).to_pyarrow_dataset()
print(duckdb.sql("SELECT state, count(*) AS runs, max(duration_ms) AS slowest_ms FROM runs GROUP BY ALL ORDER BY ALL"))

# %% Views and lineage functions need lineproof, which knows their SQL.
from lineproof.serving.sql import Tables  # noqa: E402

lineproof = Tables(str(TABLES))
for violation in lineproof.query("SELECT kind, verdict, detail FROM violations").rows:
    print("does not hold:", *violation)

# %% What is each dataset made from? This is one step; lineage_upstream('NAMESPACE', 'NAME') goes to any depth.
query = """
SELECT target_name, string_agg(DISTINCT source_name, ', ' ORDER BY source_name)
FROM dataset_edges GROUP BY ALL ORDER BY ALL
"""
for target, sources in lineproof.query(query).rows:
    print(f"{target} is made from {sources}")
