-- The same rows every time: everything comes from the number of the event by arithmetic, nothing from chance.
SELECT
    range AS event_id,
    (range * 2654435761) % (1 + var('events') // 125) AS user_id,
    TIMESTAMP '2026-06-01' + to_microseconds(range * (30 * 86400000000 // var('events'))) AS ts,
    CASE (range * 40503) % 10 WHEN 0 THEN 'purchase' WHEN 1 THEN 'cart' WHEN 2 THEN 'search' ELSE 'view' END AS kind,
    CAST(((range * 7919) % 10000) / 100 AS DECIMAL(10, 2)) AS amount,
    ['DE', 'FR', 'US', 'JP', 'BR'][1 + (range * 31) % 5] AS country
FROM range(var('events'))
