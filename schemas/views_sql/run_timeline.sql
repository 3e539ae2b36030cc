-- The events of each run in order of their times, with the time since the start of the run and the duration of the run.
SELECT
    events.run_id,
    row_number() OVER (PARTITION BY events.run_id ORDER BY events.event_time, events.event_id) AS step,
    events.event_type,
    events.event_time,
    unix_millis(events.event_time) - unix_millis(runs.started_at) AS since_start_ms,
    runs.duration_ms,
    runs.state,
    events.job_namespace,
    events.job_name,
    events.producer,
    events.error_message,
    copies.copies,
    events.event_id
FROM lineage_events AS events
JOIN runs ON runs.run_id = events.run_id
JOIN event_copies AS copies ON copies.run_id = events.run_id AND copies.event_id = events.event_id
WHERE events.kind = 'RUN'
