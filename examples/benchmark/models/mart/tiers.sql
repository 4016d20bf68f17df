/* interlace: {strategy: scd, key: user_id} */
SELECT user_id, CASE WHEN amount > 5000 THEN 'gold' WHEN amount > 1000 THEN 'silver' ELSE 'bronze' END AS tier
FROM mart.totals
