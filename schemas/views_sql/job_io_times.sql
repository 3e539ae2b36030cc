-- When the runs and job events with each combination in `job_io` were, and the last of these runs. A combination that is
-- not listed was that of a run before its last event.
SELECT
    io_id,
    min(first_seen_at) AS first_seen_at,
    max(last_seen_at) AS last_seen_at,
    max(last_run) AS last_run
FROM (
    SELECT
        io_id,
        first_event_at AS first_seen_at,
        last_event_at AS last_seen_at,
        named_struct('event_time', last_event_at, 'run_id', run_id) AS last_run
    FROM runs
    WHERE io_id IS NOT NULL
    UNION ALL
    SELECT io_id, event_time, event_time, NULL FROM lineage_events WHERE io_id IS NOT NULL
) AS seen
GROUP BY io_id
