/* interlace: {strategy: merge, key: user_id} */
SELECT user_id, max(ts) AS last_at, arg_max(amount, ts) AS amount FROM clean.purchases GROUP BY user_id
