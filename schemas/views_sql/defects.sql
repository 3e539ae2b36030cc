-- Which producers send events with which defects: the number of events, when, and the latest one as an example. The
-- producer's URI usually has its version. What each defect means: docs/defects.md.
SELECT
    coalesce(producer, '') AS producer,
    defect,
    count(*) AS events,
    min(event_time) AS first_at,
    max(event_time) AS last_at,
    max(event_id) AS example_event_id
FROM (
    SELECT producer, event_time, event_id, explode(defects) AS defect
    FROM lineage_events
    WHERE defects IS NOT NULL
) AS found
GROUP BY coalesce(producer, ''), defect
