/* interlace:
  description: Since the beginning.
  checks:
    - unique: shop
*/
SELECT shop, CAST(sum(revenue_cents) AS BIGINT) AS revenue_cents
FROM fct_daily_sales
GROUP BY ALL
