"""Cases that the other integrations do not cover: job and dataset events, minimal events, deletions, custom facets."""

from tests.foreign_events.integration import Integration, python_client

CATALOG = Integration("https://tram.example/catalogue/3", python_client)
SCRIPT = Integration("https://tram.example/night-script", python_client, "1-0-5", "")
LEGACY = Integration("https://tram.example/legacy", python_client, "1-0-5", "#/definitions/")
ABORTED_RUN = "019caa60-0000-7000-8000-000000000001"
BARE_RUN = "6c84fb90-12c4-11f0-9cd2-0242ac120002"
UNTYPED_RUN = "019caa60-0000-4000-8000-000000000003"
CUSTOM_RUN = "019caa60-0000-7000-8000-000000000004"
STATES = {ABORTED_RUN: "ABORTED", BARE_RUN: "RUNNING", UNTYPED_RUN: "NEW", CUSTOM_RUN: "NEW"}

OWN = "https://tram.example/facets/1-0-0/Any.json"
DELETED = CATALOG.custom(OWN, _deleted=True)
STATIONS = {"namespace": "mysql://db.tram:3306", "name": "tram.stations"}
MAPS = {"namespace": "file", "name": "/srv/maps/näte 2.geojson"}

ANYTHING = {
    "nested": {"a": {"b": {"c": [{"d": []}, {}, [[], [{}]]]}}},
    "text": 'Zürich 東京 🚋 \u202e "quoted" back\\slash \t \u0000 <b>&amp;</b> {{ jinja }} ${HOME}',
    "whole numbers": [0, -1, 2**53 + 1, 2**63, -(2**63) - 1, 2**64, 2**200],
    "fractions": [0.1, -0.0, 1e10, 1.5e300, 5e-324, 1 / 3],
    "truths": [True, False, None],
    "nothing": None,
    "empty": {},
    "none": [],
    "": "a name of no letters",
    "event_id": "00000000-0000-8000-8000-000000000000",
}
CUSTOM_FACETS = {
    "acme_anything": CATALOG.custom(OWN, **ANYTHING),
    "acme.cost-centre/2026": CATALOG.custom(OWN, **{"cost.centre": {"a.b": 1, "a": {"b": 2}}, "-": "-"}),
    "acme-deploy": CATALOG.custom(OWN),
    "Acme_Case": CATALOG.custom(OWN, case="upper"),
    "acme_case": CATALOG.custom(OWN, case="lower"),
    "parentRun": CATALOG.custom(OWN, run="an older name with another shape"),
    "acme $.x[0] *": CATALOG.custom(OWN, path="$.run.facets"),
    "ärende_språk": CATALOG.custom(OWN, språk=["svenska", "日本語"]),
}


EVENTS = {
    "a job that does not run": CATALOG.job_event(
        "2026-03-02T07:00:00Z",
        {
            "namespace": "tram-scripts",
            "name": "draw maps",
            "facets": {
                "jobType": CATALOG.standard(
                    "2-0-4",
                    "JobTypeJobFacet",
                    processingType="SERVICE",
                    integration="CATALOGUE",
                    emissionPattern={"eventTrigger": "PERIODIC", "eventContentMode": "FULL", "windowDuration": 300},
                ),
                "documentation": {**CATALOG.standard("1-1-0", "DocumentationJobFacet"), "_deleted": True},
                "lineage": CATALOG.standard(
                    "1-0-0",
                    "LineageJobFacet",
                    "LineageFacet",
                    entries=[{"type": "DATASET", **MAPS, "inputs": [{"type": "DATASET", **STATIONS}]}],
                ),
                "acme_retired": DELETED,
                **CUSTOM_FACETS,
            },
        },
        [
            {
                **STATIONS,
                "facets": {"acme_custom": CATALOG.custom(OWN, **ANYTHING)},
                "inputFacets": {"acme.in": CATALOG.custom(OWN, kept=[])},
            }
        ],
        [{**MAPS, "facets": CUSTOM_FACETS, "outputFacets": {"acme-out": CATALOG.custom(OWN, size={})}}],
    ),
    "a dataset nobody writes": CATALOG.dataset_event(
        "2026-03-02T07:00:01Z",
        {
            **STATIONS,
            "facets": {
                "schema": CATALOG.schema(id="int", name="varchar(80)"),
                "ownership": CATALOG.standard(
                    "1-0-1", "OwnershipDatasetFacet", owners=[{"name": "team:network", "type": "STEWARD"}]
                ),
                "tags": CATALOG.standard(
                    "1-0-0", "TagsDatasetFacet", tags=[{"key": "pii", "value": "no", "field": "name", "source": "USER"}]
                ),
                "hierarchy": CATALOG.standard(
                    "1-0-0",
                    "HierarchyDatasetFacet",
                    hierarchy=[{"type": "DATABASE", "name": "tram"}, {"type": "TABLE", "name": "stations"}],
                ),
                "dataQualityMetrics": CATALOG.standard(
                    "1-0-1", "DataQualityMetricsDatasetFacet", rowCount=88, columnMetrics={"id": {"distinctCount": 88}}
                ),
                "lineage": CATALOG.standard("1-0-0", "LineageDatasetFacet", "LineageFacet", inputs=[], fields={}),
                "lifecycleStateChange": CATALOG.standard(
                    "1-0-1",
                    "LifecycleStateChangeDatasetFacet",
                    lifecycleStateChange="RENAME",
                    previousIdentifier={"namespace": "mysql://db.tram:3306", "name": "tram.stops"},
                ),
                "acme_retired": DELETED,
                **CUSTOM_FACETS,
            },
        },
    ),
    "a dataset of the first generation": LEGACY.dataset_event(
        "2026-03-02T07:00:02Z", {**MAPS, "facets": {"documentation": DELETED}}
    ),
    "a run of bare names": {
        "eventType": "START",
        "eventTime": "2026-03-02T07:00:03Z",
        "producer": "https://tram.example/by-hand",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": BARE_RUN},
        "job": {"namespace": "n", "name": "j"},
    },
    "a run whose address stops at the file": SCRIPT.run_event(
        "START",
        "2026-03-02T07:00:04Z",
        {"runId": ABORTED_RUN},
        {"namespace": "tram-scripts", "name": "night"},
        [STATIONS],
    ),
    "its end": SCRIPT.run_event(
        "ABORT", "2026-03-02T07:00:05Z", {"runId": ABORTED_RUN}, {"namespace": "tram-scripts", "name": "night"}
    ),
    "an event without a type": LEGACY.run_event(
        None,
        "2026-03-02T07:00:06Z",
        {"runId": UNTYPED_RUN, "facets": {}},
        {"namespace": "tram-scripts", "name": "untyped"},
    ),
    "a run with facets of any content": CATALOG.run_event(
        "OTHER",
        "2026-03-02T07:00:07Z",
        {"runId": CUSTOM_RUN, "facets": CUSTOM_FACETS},
        {"namespace": "tram-scripts", "name": "any content", "facets": {"acme_retired": DELETED}},
        [{**STATIONS, "facets": {}, "inputFacets": CUSTOM_FACETS}],
        [{**MAPS, "outputFacets": CUSTOM_FACETS}],
    ),
}
