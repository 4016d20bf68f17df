/* interlace:
  description: All shops together.
  strategy: incremental
  time_column: sales_date
  interval: 1d
*/
SELECT sales_date, CAST(sum(orders) AS BIGINT) AS orders, CAST(sum(revenue_cents) AS BIGINT) AS revenue_cents
FROM fct_daily_sales
GROUP BY ALL
