/* interlace: {strategy: incremental, time_column: day, key: [day, kind]} */
SELECT CAST(ts AS DATE) AS day, kind, count(*) AS events FROM raw.events GROUP BY ALL
