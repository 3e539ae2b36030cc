-- How often each event arrived: one event can be in several records, because producers and networks repeat them.
SELECT
    run_id,
    event_id,
    count(*) AS copies,
    min(timestamp) AS first_came_at,
    max(timestamp) AS last_came_at
FROM records
WHERE reason IS NULL
GROUP BY run_id, event_id
