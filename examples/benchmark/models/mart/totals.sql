/* interlace: {strategy: hash_merge, key: user_id} */
SELECT user_id, count(*) AS events, sum(amount) AS amount FROM raw.events GROUP BY user_id
