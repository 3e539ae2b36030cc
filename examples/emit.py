"""Emit lineage from a service.

Start a broker and the job with `lineproof up --detach`, then run `python examples/emit.py`.
Guide: docs/openlineage_guide.md.
"""

import lineproof
from lineproof.producers.dataset_names import http_api, postgres

ORDERS = http_api("shop.api", "orders")
REVENUE = postgres("db.internal", 5432, "shop", "public", "daily_revenue")

# Settings come from ./lineproof.yaml and the environment (LINEPROOF_KAFKA_BOOTSTRAP_SERVERS, …).
# The product is the namespace of your jobs. Keep one emitter for the life of the process.
emitter = lineproof.connect(overrides=["emitter.product=shop"])

amounts = [40, 2, 0]  # of the orders of a day

# START is emitted here, COMPLETE at the end of the block. An exception emits FAIL and goes on to the caller.
with emitter.run("daily-revenue", inputs=[ORDERS], documentation="Sum of all paid orders of a day") as run:
    total = 0
    for amount in run.ledger.count(amounts):  # every order counts as processed, unless you say otherwise
        if amount == 0:
            run.ledger.filter()
        total += amount
    run.add_output(REVENUE, schema={"day": "date", "amount": "bigint"}, row_count=1)

# No call above waited for the broker. Wait for it here, because the process ends.
emitter.close(30)
print(f"run {run.run_id}: {run.state}, revenue {total}, {emitter.stats.emitted} events emitted")
