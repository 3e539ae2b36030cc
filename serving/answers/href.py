"""Addresses of views of the page. Names are parameters, because they contain slashes and colons."""

from urllib.parse import urlencode


def href(view: str, **parameters: str | None) -> str:
    """The address of a view with these parameters."""
    query = urlencode({name: value for name, value in parameters.items() if value is not None})
    return f"#/{view}{'?' if query else ''}{query}"


def run_href(run_id: str) -> str:
    """The page of a run."""
    return href("run", run_id=run_id)


def dataset_href(namespace: str, name: str) -> str:
    """The page of a dataset."""
    return href("dataset", namespace=namespace, name=name)


def job_href(namespace: str, name: str) -> str:
    """The page of a job."""
    return href("job", namespace=namespace, name=name)
