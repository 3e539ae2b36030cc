"""`/lineage`: the jobs and datasets around one of them."""

from collections import defaultdict
from collections.abc import Iterable
from functools import partial

from lineproof.serving.api.marquez.ask import Ask
from lineproof.serving.api.marquez.dataset_index import TABLES, KnownDataset, dataset_index
from lineproof.serving.api.marquez.datasets import dataset_documents
from lineproof.serving.api.marquez.job_index import KnownJob, job_index
from lineproof.serving.api.marquez.jobs import job_documents
from lineproof.serving.api.marquez.node_ids import node_of
from lineproof.serving.api.marquez.parts import written_parts
from lineproof.serving.api.marquez.values import Document, Json, written
from lineproof.serving.lineage_graph import Node, lineage_graph
from lineproof.serving.open_tables import TableSet

DEFAULT_DEPTH, MAX_DEPTH = 20, 1000


def lineage(ask: Ask) -> Document:
    """At most 3,000 nodes, the nearest first. Depth is counted in jobs: from a job to the next one are two edges."""
    start = node_of(ask)
    edges_deep = 2 * ask.number("depth", DEFAULT_DEPTH, MAX_DEPTH) + (1 if start.kind == "job" else 0)
    walk = lineage_graph(ask.tables).walk(start, edges_deep, edges_deep)
    documents = _documents(ask.tables, walk.depths)
    incoming: dict[Node, list[Document]] = defaultdict(list)
    outgoing: dict[Node, list[Document]] = defaultdict(list)
    for origin, destination in sorted(walk.edges):
        edge = {"origin": origin.id, "destination": destination.id}
        incoming[destination].append(edge)
        outgoing[origin].append(edge)
    return {
        "graph": [
            {
                "id": node.id,
                "type": node.kind.upper(),
                "data": documents[node],
                "inEdges": incoming.get(node, []),
                "outEdges": outgoing.get(node, []),
            }
            for node in walk.depths
        ]
    }


def _written(tables: TableSet, known: list[KnownDataset]) -> list[Json]:
    return [written(document) for document in dataset_documents(tables, known, with_facets=False)]


def _documents(tables: TableSet, nodes: Iterable[Node]) -> dict[Node, Document | Json]:
    jobs, datasets = job_index(tables).by_name, dataset_index(tables).by_node
    of_jobs = [node for node in nodes if node.kind == "job"]
    of_datasets = [node for node in nodes if node.kind == "dataset"]
    known_jobs = [
        jobs.get((node.namespace, node.name)) or KnownJob(node.namespace, node.name, None, None) for node in of_jobs
    ]
    known_datasets = [
        datasets.get((node.namespace, node.name)) or KnownDataset(node.namespace, node.name) for node in of_datasets
    ]
    documents: list[Document | Json] = [
        *job_documents(tables, known_jobs, with_facets=False),
        *written_parts(tables, "datasets of graphs", TABLES, known_datasets, partial(_written, tables)),
    ]
    return dict(zip([*of_jobs, *of_datasets], documents, strict=True))
