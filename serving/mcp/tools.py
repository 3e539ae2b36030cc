"""The tools. Their docstrings are what an assistant reads: which question each answers, and what to ask next."""

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from lineproof.serving.answers.columns import ColumnQuery, column_path
from lineproof.serving.answers.datasets import dataset
from lineproof.serving.answers.freshness import Verdict, freshness
from lineproof.serving.answers.impact import impact
from lineproof.serving.answers.installation import Installation
from lineproof.serving.answers.jobs import job
from lineproof.serving.answers.paging import Paging
from lineproof.serving.answers.run import run
from lineproof.serving.answers.run_lineage import run_lineage
from lineproof.serving.answers.search import Kind, search
from lineproof.serving.answers.violations import Kind as ViolationKind
from lineproof.serving.answers.violations import violations
from lineproof.serving.mcp.chain import chain, verdict
from lineproof.serving.mcp.reader import Found, Reader
from lineproof.serving.open_tables import TableSet

Namespace = Annotated[str, Field(description="Namespace, exactly as search gives it.", max_length=20_000)]
Name = Annotated[str, Field(description="Name, exactly as search gives it.", max_length=20_000)]
Column = Annotated[str | None, Field(description="A column of the dataset.", max_length=20_000)]
Depth = Annotated[int, Field(ge=0, le=20, description="How many datasets far.")]
Limit = Annotated[int, Field(ge=1, le=100)]
AsOf = Annotated[
    str | None,
    Field(description="What was known then: a time such as 2026-01-31T10:00:00Z, or a version of lineage_events."),
]

_FRESH = {"late": "broken", "unknown": "unknown", "fresh": "proven"}


class Tools:
    """The tools over one set of tables."""

    def __init__(self, reader: Reader, installation: Installation) -> None:
        self._reader, self._installation = reader, installation

    def all(self) -> list[Callable[..., str]]:
        """The functions, by the names that assistants see."""
        return [
            self.search,
            self.dataset,
            self.lineage,
            self.impact,
            self.run,
            self.job,
            self.violations,
            self.freshness,
            self.sql,
        ]

    def search(
        self,
        text: Annotated[str, Field(description="A part of a name, or the beginning of a run id.", max_length=1000)],
        kind: Annotated[Kind | None, Field(description="Only this kind.")] = None,
        limit: Limit = 20,
        as_of: AsOf = None,
    ) -> str:
        """Find datasets, columns, jobs and runs by a part of their name. Begin here: the other tools need the exact
        namespace and name. Best hits first: exact names, beginnings, words, parts.
        """
        return self._reader.answer(
            as_of,
            lambda tables: Found(
                search(tables, text, kind, limit), "unknown", "a search finds names; ask dataset, job or run for trust"
            ),
        )

    def dataset(self, namespace: Namespace, name: Name, as_of: AsOf = None) -> str:
        """What a dataset is and whether its present content can be trusted: description, owners, columns (each with
        the columns it is made from), tags, latest loads with the run that made each, tests, freshness, history of
        its schema, which jobs write and read it. To see where it comes from, ask lineage; for the evidence of a
        load, ask run with its run_id.
        """

        def found(tables: TableSet) -> Found | None:
            one = dataset(tables, namespace, name, self._installation)
            return Found(one, one.trust, one.reason) if one else None

        return self._reader.answer(as_of, found, f"dataset {namespace}/{name}")

    def lineage(
        self,
        namespace: Namespace,
        name: Name,
        column: Column = None,
        upstream: Depth = 5,
        downstream: Depth = 0,
        as_of: AsOf = None,
    ) -> str:
        """Where does this figure come from, and can it be trusted? The datasets and jobs that a dataset is made from
        (upstream), and those that are made from it (downstream), with the trust in each dataset's latest load. The
        trust of the answer is that of the worst dataset upstream: a figure is worth no more than what it is made
        from. With `column`: only the path of this column, and how each column is made from the one before.
        `steps` counts edges: negative upstream, positive downstream; edges lead from source to target.
        """
        missing = f"dataset {namespace}/{name}" + (f" with a column {column}" if column else "")

        def found(tables: TableSet) -> Found | None:
            around = chain(tables, namespace, name, upstream, downstream)
            if column is None:
                return Found(around, *verdict(around)) if around else None
            path = column_path(tables, ColumnQuery(namespace, name, column, upstream, downstream))
            trust = verdict(around) if around else ("unknown", "nothing is known of the datasets")
            return Found(path, *trust) if path else None

        return self._reader.answer(as_of, found, missing)

    def impact(
        self, namespace: Namespace, name: Name, column: Column = None, limit: Limit = 50, as_of: AsOf = None
    ) -> str:
        """What depends on this dataset or column, nearest first, with the jobs that write it and the owners to ask:
        before a change, or when something is found to be wrong. The trust is that of the dataset itself: what is
        broken here is broken in everything that is listed.
        """

        def found(tables: TableSet) -> Found | None:
            start = dataset(tables, namespace, name, self._installation)
            affected = impact(tables, namespace, name, column, Paging(limit))
            if start is None and not affected.items:
                return None
            trust = (start.trust, start.reason) if start else ("unknown", "nothing is known of the dataset itself")
            return Found(affected, *trust)

        return self._reader.answer(as_of, found, f"dataset {namespace}/{name}")

    def run(self, run_id: Annotated[str, Field(max_length=20_000)], as_of: AsOf = None) -> str:
        """One run, and the evidence for its result. intent: what the job was meant to do, its owners and limits.
        logic: the code. proof: the ledger (do the row counts add up: input = processed + filtered + errored), the
        certificates (were they altered, does their chain hold), rows read against rows that the run before wrote,
        and events that never arrived. wrote_its_inputs names the runs whose output it read: follow them upstream.
        """

        def found(tables: TableSet) -> Found | None:
            of_run = run(tables, run_id)
            if of_run is None:
                return None
            around = run_lineage(tables, run_id, up=1, down=0)
            sources = [
                {"run_id": edge.source_run, "dataset": edge.dataset.model_dump()}
                for edge in (around.edges if around else ())
            ]
            document = {**of_run.model_dump(mode="json"), "wrote_its_inputs": sources}
            return Found(document, of_run.trust, of_run.reason)

        return self._reader.answer(as_of, found, f"run {run_id}")

    def job(self, namespace: Namespace, name: Name, as_of: AsOf = None) -> str:
        """What a job does and how its latest runs ended: description, owners, SQL, limits, inputs, outputs, runs.
        The trust is that of its last run.
        """

        def found(tables: TableSet) -> Found | None:
            of_job = job(tables, namespace, name)
            if of_job is None:
                return None
            last = of_job.last_run
            return Found(of_job, *((last.trust, last.reason) if last else ("unknown", "no run of it is known")))

        return self._reader.answer(as_of, found, f"job {namespace}/{name}")

    def violations(
        self,
        kind: Annotated[ViolationKind | None, Field(description="Only this kind.")] = None,
        include_resolved: bool = False,
        limit: Limit = 50,
        as_of: AsOf = None,
    ) -> str:
        """What is wrong now, newest first, and what to do about it: ledgers that do not add up, altered certificates,
        failed tests, events and records that never arrived. `stands` is false for what was resolved since.
        """

        def found(tables: TableSet) -> Found:
            listed = violations(tables, kind, "all" if include_resolved else "true", Paging(limit))
            standing = sum(one.stands for one in listed.items)
            more = "at least " if listed.next_cursor else ""
            if standing:
                stand = "violation stands" if standing == 1 and not more else "violations stand"
                return Found(listed, "broken", f"{more}{standing} {stand}")
            return Found(listed, "unknown", "no violation stands; that alone proves no run, so ask for the run")

        return self._reader.answer(as_of, found)

    def freshness(
        self,
        verdict: Annotated[Verdict | None, Field(description="Only late, fresh or unknown ones.")] = None,
        limit: Limit = 50,
        as_of: AsOf = None,
    ) -> str:
        """Which datasets are late, the worst first: the age of the last successful load against its limit, which is
        declared or learned (limit_source). Without a limit the verdict is unknown, whatever the age.
        """

        def found(tables: TableSet) -> Found:
            listed = freshness(tables, verdict, Paging(limit), self._installation)
            worst = min((one.verdict for one in listed.items), key=[*_FRESH].index, default="unknown")
            count = sum(one.verdict == worst for one in listed.items)
            return Found(listed, _FRESH[worst], f"{count} of the {len(listed.items)} datasets listed are {worst}")

        return self._reader.answer(as_of, found)

    def sql(
        self,
        query: Annotated[str, Field(description="One SELECT in DuckDB SQL.", max_length=20_000)],
        limit: Annotated[int, Field(ge=1, le=1000, description="Rows at most.")] = 100,
        as_of: AsOf = None,
    ) -> str:
        """Rows of one SELECT over lineproof's tables and views, for what the other tools do not answer. DESCRIBE runs
        lists the columns of a table. Tables: runs, jobs, datasets, lineage_events, job_io, column_lineage,
        dataset_schemas, certificates, quality_results, dead_letters, records. Views: violations, ledger_checks,
        certificate_checks, triangulation, reconciliation, column_edges, dataset_edges, run_timeline, open_runs.
        Functions: lineage_upstream(namespace, name), lineage_downstream(namespace, name). Results of a SELECT have
        no verdict of their own.
        """
        return self._reader.query(query, limit, as_of)
