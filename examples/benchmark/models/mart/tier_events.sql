/* interlace: {strategy: scd, key: user_id, time_column: last_at} */
SELECT user_id, last_at, amount > 50 AS is_big FROM mart.last_purchase
