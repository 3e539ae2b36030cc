-- How often each event came: one event, and as many records as its producers and networks made of it.
SELECT
    run_id,
    event_id,
    count(*) AS copies,
    min(timestamp) AS first_came_at,
    max(timestamp) AS last_came_at
FROM records
WHERE reason IS NULL
GROUP BY run_id, event_id
