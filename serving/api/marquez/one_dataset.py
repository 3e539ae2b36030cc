"""One dataset, with what lists leave out: its version, and when it was last written."""

from lineproof.serving.api.marquez.ask import Ask
from lineproof.serving.api.marquez.dataset_versions import latest_version
from lineproof.serving.api.marquez.datasets import dataset_documents, known_dataset
from lineproof.serving.api.marquez.values import Document


def dataset(ask: Ask) -> Document:
    """`/namespaces/{ns}/datasets/{d}`."""
    known = known_dataset(ask)
    [document] = dataset_documents(ask.tables, [known], with_facets=True)
    version, loaded_at = latest_version(ask.tables, known)
    return {**document, "lastModifiedAt": loaded_at, "currentVersion": version}
