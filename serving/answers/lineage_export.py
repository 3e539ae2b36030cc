"""The edges of a lineage graph as CSV, one per line."""

import csv
import io

from lineproof.serving.answers.lineage import Graph, GraphNode

COLUMNS = (
    *("source_kind", "source_namespace", "source_name", "target_kind", "target_namespace", "target_name"),
    *("rows_written", "rows_read", "difference"),
)


def as_csv(graph: Graph) -> str:
    """The edges between jobs and datasets that are shown. Every text is quoted, and as it is in the events."""
    nodes = {node.id: node for node in graph.nodes if isinstance(node, GraphNode)}
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for edge in graph.edges:
        source, target = nodes.get(edge.source), nodes.get(edge.target)
        if source and target:
            ends = (one for node in (source, target) for one in (node.kind, node.namespace, node.name))
            rows = (edge.rows_written, edge.rows_read, edge.difference)
            writer.writerow([*ends, *("" if count is None else count for count in rows)])
    return text.getvalue()
