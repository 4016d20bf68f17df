/* interlace:
  description: Orders of five shops from January to October 2026, made up. Since August there are loyalty discounts.
  materialise: view
*/
SELECT
    i AS order_id,
    i % 5 + 1 AS shop,
    TIMESTAMP '2026-01-01' + to_minutes(i * 30) AS ordered_at,
    CASE
        WHEN i % 19 < 4 AND i * 30 >= 305280 THEN 'LOYAL10' -- from 2026-08-01 on
        WHEN i % 11 = 0 THEN 'WELCOME5'
    END AS discount_code
FROM range(14448) AS orders (i)
