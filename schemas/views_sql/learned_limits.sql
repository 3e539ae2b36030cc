-- How old each dataset usually becomes before its next load: the k-th longest of the last n gaps between its loads, at
-- least a minute. There is none before 20 gaps. n is at most 200, and k is 1 + n/100, so that a few outages are not
-- learned. If gaps to come are like the last ones, a share of at most k/(n+1) is longer by chance (`false_alarms`).
-- Where the rhythm is weekly, only gaps count that began on days (UTC) of the same kind as the last load (`is_weekly`):
-- each weekday with at least three gaps is followed by longer gaps than the mean, or by shorter ones, nine times in ten.
WITH steps AS (
    SELECT
        namespace,
        name,
        loaded_at,
        unix_millis(loaded_at) AS loaded_ms,
        lag(unix_millis(loaded_at)) OVER (PARTITION BY namespace, name ORDER BY loaded_at) AS began_ms,
        row_number() OVER (PARTITION BY namespace, name ORDER BY loaded_at DESC) AS place
    FROM dataset_loads
),
gaps AS (
    SELECT
        namespace,
        name,
        loaded_at,
        loaded_ms - began_ms AS gap_ms,
        -- 0 is Monday: 1970-01-01 was a Thursday.
        (CAST(floor(began_ms / 86400000) AS BIGINT) % 7 + 10) % 7 AS weekday
    FROM steps
    WHERE began_ms IS NOT NULL AND place <= 200
),
totals AS (
    SELECT namespace, name, count(*) AS n, CAST(sum(gap_ms) AS BIGINT) AS total_ms
    FROM gaps
    GROUP BY namespace, name
    HAVING count(*) >= 20
),
weekdays AS (
    SELECT
        gaps.namespace,
        gaps.name,
        gaps.weekday,
        CASE
            WHEN 10 * sum(CASE WHEN gaps.gap_ms * totals.n > totals.total_ms THEN 1 ELSE 0 END) >= 9 * count(*)
                THEN 'long'
            WHEN 10 * sum(CASE WHEN gaps.gap_ms * totals.n > totals.total_ms THEN 1 ELSE 0 END) <= count(*)
                THEN 'short'
            ELSE 'mixed'
        END AS kind
    FROM gaps
    JOIN totals ON totals.namespace = gaps.namespace AND totals.name = gaps.name
    GROUP BY gaps.namespace, gaps.name, gaps.weekday
    HAVING count(*) >= 3
),
weekly AS (
    SELECT namespace, name
    FROM weekdays
    GROUP BY namespace, name
    HAVING count(DISTINCT kind) = 2 AND max(kind) = 'short' AND min(kind) = 'long'
),
last_loads AS (
    SELECT
        steps.namespace,
        steps.name,
        (CAST(floor(steps.loaded_ms / 86400000) AS BIGINT) % 7 + 10) % 7 AS weekday
    FROM steps
    WHERE steps.place = 1
),
alike AS (
    SELECT gaps.namespace, gaps.name, gaps.loaded_at, gaps.gap_ms, TRUE AS is_weekly
    FROM gaps
    JOIN weekly ON weekly.namespace = gaps.namespace AND weekly.name = gaps.name
    JOIN weekdays AS began
        ON began.namespace = gaps.namespace AND began.name = gaps.name AND began.weekday = gaps.weekday
    JOIN last_loads ON last_loads.namespace = gaps.namespace AND last_loads.name = gaps.name
    JOIN weekdays AS now
        ON now.namespace = gaps.namespace
        AND now.name = gaps.name
        AND now.weekday = last_loads.weekday
        AND now.kind = began.kind
),
counted AS (
    SELECT *, count(*) OVER (PARTITION BY namespace, name) AS n FROM alike
    UNION ALL
    SELECT gaps.namespace, gaps.name, gaps.loaded_at, gaps.gap_ms, FALSE, totals.n
    FROM gaps
    JOIN totals ON totals.namespace = gaps.namespace AND totals.name = gaps.name
),
ranked AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY namespace, name, is_weekly ORDER BY gap_ms DESC, loaded_at) AS k,
        max(CASE WHEN is_weekly THEN 1 ELSE 0 END) OVER (PARTITION BY namespace, name) AS has_weekly
    FROM counted
    WHERE n >= 20
)
SELECT
    namespace,
    name,
    greatest(gap_ms, 60000) AS limit_ms,
    n,
    CAST(k AS BIGINT) AS k,
    CAST(k AS DOUBLE) / (n + 1) AS false_alarms,
    is_weekly
FROM ranked
WHERE k = 1 + CAST(floor(n / 100) AS BIGINT) AND has_weekly = CASE WHEN is_weekly THEN 1 ELSE 0 END
