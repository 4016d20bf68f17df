/* interlace: {strategy: full_merge, key: user_id} */
SELECT user_id, count(*) AS purchases FROM clean.purchases
WHERE ts >= (SELECT max(ts) FROM clean.purchases) - INTERVAL 7 DAY GROUP BY user_id
