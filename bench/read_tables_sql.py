"""The SQL that makes the rows of `read_tables`: runs of 2,000 jobs, some of which run far more often than others, and
layers of datasets, each of which is made from two of the layer below.
"""

# ruff: noqa: S608 (the parts of the queries are in this file)

JOBS, DEPTH, PARENTS = 2000, 20, 2

SETUP = (
    "CREATE MACRO chance(n, salt) AS hash(n, salt) / 18446744073709551616.0",
    """
    CREATE MACRO job_of(n) AS
        {'namespace': 'team-' || (n % 12) || '.warehouse', 'name': printf('load_%04d', CAST(n AS INTEGER))}
    """,
    """
    CREATE MACRO dataset_of(layer, n) AS
        {'namespace': 's3://lake', 'name': printf('layer_%02d/table_%05d', CAST(layer AS INTEGER), CAST(n AS INTEGER))}
    """,
    "CREATE MACRO json_time(moment) AS strftime(moment, '%Y-%m-%dT%H:%M:%S.%gZ')",
    """
    CREATE MACRO facet_json(body) AS
        '{"_producer":"https://example.com/etl","_schemaURL":"https://example.com/Facet.json",' || body || '}'
    """,
    'CREATE MACRO dataset_json(one) AS \'{"namespace":"\' || one.namespace || \'","name":"\' || one.name || \'"}\'',
    "CREATE MACRO event_id_of(n, type) AS CAST(CAST(md5(n || type) AS UUID) AS VARCHAR)",
    """
    CREATE TABLE made_steps AS
    SELECT
        step,
        sha256(CAST(step AS VARCHAR)) AS io_id,
        CAST(step % getvariable('jobs') AS INTEGER) AS job,
        [dataset_of(layer, (number * 2) % width), dataset_of(layer, (number * 2 + 1) % width)] AS inputs,
        dataset_of(layer + 1, number) AS output
    FROM (
        SELECT
            range AS step, getvariable('width') AS width,
            range // getvariable('width') AS layer, range % getvariable('width') AS number
        FROM range(getvariable('width') * getvariable('depth'))
    )
    """,
    """
    CREATE TABLE made_runs AS
    SELECT
        n,
        printf('%08x-%04x-7%03x-8%03x-%012x', millis // 65536, millis % 65536, n % 4096, n // 4096 % 4096, n) AS run_id,
        job,
        CASE WHEN steps > 0 THEN
            job + getvariable('jobs') * CAST(floor(chance(n, 'step') * steps) AS BIGINT)
        END AS step,
        make_timestamptz(millis * 1000) AS started_at,
        CASE WHEN state <> 'RUNNING' THEN make_timestamptz((millis + duration) * 1000) END AS ended_at,
        CASE WHEN state <> 'RUNNING' THEN duration END AS duration_ms,
        state,
        CAST(floor(chance(n, 'rows') * 1000000) AS BIGINT) AS row_count,
        state = 'COMPLETED' AND chance(n, 'certified') < 0.03 AS is_certified
    FROM (
        SELECT
            n,
            job,
            1767225600000 + n * 5000 AS millis,
            greatest(0, ceil((getvariable('width') * getvariable('depth') - job) / getvariable('jobs'))) AS steps,
            CAST(1 - ln(1 - chance(n, 'duration')) * [5000, 30000, 120000][job % 3 + 1] AS BIGINT) AS duration,
            CASE
                WHEN chance(n, 'state') < 0.03 THEN 'FAILED'
                WHEN chance(n, 'state') < 0.035 THEN 'ABORTED'
                WHEN chance(n, 'state') < 0.036 THEN 'RUNNING'
                ELSE 'COMPLETED'
            END AS state
        FROM (
            SELECT range AS n, CAST(floor(getvariable('jobs') * chance(range, 'job') ** 2) AS INTEGER) AS job
            FROM range(getvariable('runs'))
        )
    )
    """,
    """
    CREATE TABLE made_datasets AS
    SELECT dataset_of(layer, number) AS dataset, layer, number
    FROM (SELECT range AS layer FROM range(getvariable('depth') + 1))
    CROSS JOIN (SELECT range AS number FROM range(getvariable('width')))
    """,
)

_COLUMNS = "['id', 'amount', 'currency', 'created_at', 'customer_email']"
_FIELDS = f"list_transform({_COLUMNS}, lambda x: {{'name': x, 'type': 'string', 'description': 'the ' || x}})"
_FIELDS_JSON = f"""'[' || array_to_string(
    list_transform({_COLUMNS}, lambda x: '{{"name":"' || x || '","type":"string","description":"the ' || x || '"}}'),
    ','
) || ']'"""
_STATISTICS = "'stated_at': coalesce(ended_at, started_at), 'row_count': row_count, 'size': row_count * 40"
_IN_TIME = "(SELECT * FROM made_runs ORDER BY n)"
# As clustering by run and job leaves the files: each has a part of the time and a part of the jobs.
_CLUSTERED = "(SELECT * FROM made_runs ORDER BY n * 4 // getvariable('runs'), job, n)"

_RUNS = f"""
SELECT
    run_id,
    job_of(run.job).namespace AS job_namespace,
    job_of(run.job).name AS job_name,
    state,
    state = 'COMPLETED' AS successful,
    started_at,
    ended_at,
    duration_ms,
    false AS has_conflicting_ends,
    CASE WHEN state = 'COMPLETED' AND n % 2 = 0 THEN if(n % 10000 = 0, 'unbalanced', 'balanced') END AS ledger_verdict,
    CASE WHEN state = 'COMPLETED' AND n % 2 = 0 THEN if(n % 10000 = 0, 25, 0) END AS ledger_difference,
    false AS had_faulty_ledger,
    CASE WHEN state = 'COMPLETED' AND n % 2 = 0 THEN {{
        'event_time': ended_at, 'event_id': event_id_of(n, 'COMPLETE'), 'input_count': row_count,
        'processed_count': row_count - if(n % 10000 = 0, 25, 0), 'filtered_count': 0, 'errored_count': 0,
        'declared_balanced': true
    }} END AS ledger,
    CASE WHEN state = 'FAILED' THEN {{
        'event_time': ended_at, 'event_id': event_id_of(n, 'FAIL'), 'message': 'lost executor 7'
    }} END AS error,
    CASE WHEN is_certified THEN 'intact' END AS certificate_verdict,
    'https://example.com/etl' AS producer,
    list_transform(
        coalesce(inputs, []), lambda x: {{'namespace': x.namespace, 'name': x.name, {_STATISTICS}}}
    ) AS inputs,
    CASE WHEN output IS NOT NULL AND state = 'COMPLETED' THEN [
        {{'namespace': output.namespace, 'name': output.name, {_STATISTICS}}}
    ] ELSE [] END AS outputs,
    [job_of(run.job)] AS jobs,
    io_id,
    if(ended_at IS NULL, 1, 2) AS event_count,
    CASE WHEN state = 'COMPLETED' THEN ended_at END AS completed_at,
    CASE WHEN state = 'FAILED' THEN ended_at END AS failed_at,
    CASE WHEN state = 'ABORTED' THEN ended_at END AS aborted_at,
    started_at AS first_event_at,
    coalesce(ended_at, started_at) AS last_event_at,
    [hash(n) // 2, hash(n + 1) // 2] AS event_hashes
FROM {_CLUSTERED} AS run
LEFT JOIN made_steps USING (step)
"""

_EVENT_TYPES = {"COMPLETED": "COMPLETE", "FAILED": "FAIL", "ABORTED": "ABORT"}
_END = " ".join(f"WHEN '{state}' THEN '{type_}'" for state, type_ in _EVENT_TYPES.items())
_EVENTS = f"""
SELECT
    event_id_of(n, event_type) AS event_id,
    event_time,
    'RUN' AS kind,
    event_type,
    run_id,
    job_of(event.job).namespace AS job_namespace,
    job_of(event.job).name AS job_name,
    CAST(hash(event.job) // 2 AS BIGINT) AS job_facets_hash,
    list_transform(coalesce(inputs, []), lambda x: {{'namespace': x.namespace, 'name': x.name, 'row_count': row_count,
        'size': row_count * 40, 'facets_hash': 1}}) AS inputs,
    CASE WHEN output IS NOT NULL AND event_type = 'COMPLETE' THEN [{{'namespace': output.namespace,
        'name': output.name, 'row_count': row_count, 'size': row_count * 40, 'facets_hash': 1}}] ELSE [] END AS outputs,
    'https://example.com/etl' AS producer,
    'https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent' AS schema_url,
    CASE WHEN event_type = 'FAIL' THEN 'lost executor 7' END AS error_message,
    '{{"eventType":"' || event_type || '","eventTime":"' || json_time(event_time)
        || '","producer":"https://example.com/etl",'
        || '"schemaURL":"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",'
        || '"run":{{"runId":"' || run_id || '","facets":{{"platform_plan":'
        || facet_json('"plan":"' || repeat('x', 150) || '"')
        || if(event_type = 'FAIL', ',"errorMessage":' || facet_json('"message":"lost executor 7"'), '')
        || '}}}},"job":{{"namespace":"' || job_of(event.job).namespace || '","name":"' || job_of(event.job).name
        || '","facets":{{"jobType":' || facet_json('"processingType":"BATCH","integration":"SPARK","jobType":"JOB"')
        || '}}}},"inputs":['
        || array_to_string(list_transform(coalesce(inputs, []), lambda x: dataset_json(x)), ',') || '],"outputs":['
        || if(output IS NOT NULL AND event_type = 'COMPLETE', dataset_json(output), '') || ']}}' AS event
FROM (
    SELECT n, run_id, run.job, step, row_count, unnest(
        CASE WHEN ended_at IS NULL THEN [started_at] ELSE [started_at, ended_at] END) AS event_time,
        unnest(CASE WHEN ended_at IS NULL THEN ['START'] ELSE ['START', CASE state {_END} END] END) AS event_type
    FROM {_IN_TIME} AS run
) AS event
LEFT JOIN made_steps USING (step)
"""

_RECORDS = f"""
SELECT
    'lineage.events' AS topic,
    CAST(n % 4 AS INTEGER) AS "partition",
    (n // 4) * 2 + is_end AS "offset",
    event_time + to_milliseconds(CAST(200 + chance(n, 'lag') * 3000 AS BIGINT)) AS timestamp,
    event_id_of(n, event_type) AS event_id,
    run_id,
    event_time
FROM (
    SELECT n, run_id, 0 AS is_end, 'START' AS event_type, started_at AS event_time FROM made_runs
    UNION ALL
    SELECT n, run_id, 1, CASE state {_END} END, ended_at FROM made_runs WHERE ended_at IS NOT NULL
)
"""

_SEEN = """
    make_timestamptz(1767225600000000) AS first_seen_at,
    date_trunc(
        'hour', make_timestamptz((1767225600000 + CAST(getvariable('runs') AS BIGINT) * 5000) * 1000)
    ) AS last_seen_at
"""
_EVENT = "'event_time': make_timestamptz(1767225600000000), 'event_id': event_id_of(0, 'START')"
_SCHEMA_EVENT = f"{{{_EVENT}, 'run_id': (SELECT run_id FROM made_runs WHERE n = 0)}}"

QUERIES = {
    "runs": _RUNS,
    "lineage_events": _EVENTS,
    "records": _RECORDS,
    "certificates": """
        SELECT
            sha256(run_id) AS certificate_key, run_id AS certificate_id, run_id, ended_at AS issued_at,
            sha256(run_id) AS chain_hash, sha256(run_id) AS computed_hash,
            coalesce(lag(sha256(run_id)) OVER (PARTITION BY job ORDER BY n), repeat('0', 64)) AS previous_hash,
            'lineproof-sha256-1' AS algorithm, repeat('5', 64) AS source_state_hash,
            repeat('7', 64) AS target_state_hash, '1.4.0' AS contract_version, json_time(ended_at) AS "timestamp",
            [{'name': 'keys are unique', 'passed': true}] AS invariants
        FROM made_runs
        WHERE is_certified
    """,
    "quality_results": """
        SELECT
            sha256('q' || n) AS result_id, output.namespace AS namespace, output.name AS name,
            'nightly' AS suite, 'expect_column_values_to_not_be_null' AS expectation, 'id' AS "column",
            n % 1000 <> 0 AS success, if(n % 1000 = 0, 3, 0) AS unexpected_count, run_id,
            job_of(run.job).namespace AS job_namespace, job_of(run.job).name AS job_name,
            ended_at AS event_time, event_id_of(n, 'COMPLETE') AS event_id
        FROM made_runs AS run
        JOIN made_steps USING (step)
        WHERE n % 20 = 0 AND state = 'COMPLETED'
    """,
    "dead_letters": """
        SELECT
            'lineage.events' AS topic, 4 AS "partition", n // 1000 AS "offset", started_at AS timestamp,
            'not_json' AS reason, CAST('no event' AS BLOB) AS value
        FROM made_runs
        WHERE n % 1000 = 0
    """,
    "job_io": "SELECT io_id, [job_of(step.job)] AS jobs, inputs, [output] AS outputs FROM made_steps AS step",
    "column_lineage": f"""
        SELECT
            sha256(step || '/' || place) AS edge_id,
            job_of(stated.job).namespace AS job_namespace, job_of(stated.job).name AS job_name,
            source.namespace AS source_namespace, source.name AS source_name,
            {_COLUMNS}[place] AS source_field,
            output.namespace AS target_namespace, output.name AS target_name, {_COLUMNS}[place] AS target_field,
            [{{'type': 'DIRECT', 'subtype': 'IDENTITY', 'description': '', 'masking': false}}] AS transformations,
            {_SEEN}
        FROM (
            SELECT step, job, output, unnest(inputs) AS source, unnest(range(1, len(inputs) + 1)) AS place
            FROM made_steps
        ) AS stated
        ORDER BY target_name, source_name
    """,
    "datasets": f"""
        SELECT
            dataset.namespace AS namespace, dataset.name AS name,
            'Rows of layer ' || layer || ', made from two tables below.' AS description,
            [{{'name': 'team:team-' || (number % 12), 'type': 'OWNER'}}] AS owners,
            CASE WHEN number % 100 = 0 THEN [
                {{'key': 'gdpr_category', 'value': 'personal', 'source': 'USER', 'field': 'customer_email'}}
            ] END AS tags,
            {_FIELDS} AS fields,
            'TABLE' AS dataset_type,
            's3://lake' AS source_uri,
            [
                {{'name': 'schema', {_EVENT}, 'facet': facet_json('"fields":' || {_FIELDS_JSON})}},
                {{'name': 'dataSource', {_EVENT}, 'facet': facet_json('"name":"lake","uri":"s3://lake"')}}
            ] AS facets,
            {_SEEN}
        FROM made_datasets
        ORDER BY name
    """,
    "jobs": f"""
        SELECT
            job_of(n).namespace AS namespace, job_of(n).name AS name,
            'What ' || job_of(n).name || ' does, and for whom.' AS description,
            [{{'name': 'team:team-' || (n % 12), 'type': 'MAINTAINER'}}] AS owners,
            'BATCH' AS processing_type, 'SPARK' AS integration, 'JOB' AS job_type,
            [
                {{'name': 'jobType', {_EVENT}, 'facet':
                    facet_json('"processingType":"BATCH","integration":"SPARK","jobType":"JOB"')}},
                {{'name': 'documentation', {_EVENT}, 'facet':
                    facet_json('"description":"What ' || job_of(n).name || ' does, and for whom."')}}
            ] AS facets,
            {_SEEN}
        FROM (SELECT range AS n FROM range(getvariable('jobs')))
        ORDER BY namespace, name
    """,
    "dataset_schemas": f"""
        SELECT
            dataset.namespace AS namespace, dataset.name AS name, sha256('schema') AS schema_hash,
            {_FIELDS} AS fields, {_FIELDS_JSON} AS fields_json,
            {_SCHEMA_EVENT} AS first_seen, {_SCHEMA_EVENT} AS last_seen
        FROM made_datasets
        ORDER BY name
    """,
    "dataset_nodes": """
        SELECT
            'hive://metastore' AS namespace, 'lake.' || replace(dataset.name, '/', '.') AS name,
            dataset.namespace AS node_namespace, dataset.name AS node_name
        FROM made_datasets
        WHERE number % 100 = 0
    """,
}
"""The rows of each table; only the columns that a benchmark needs."""
