/* interlace:
  description: What each shop sold a day, after discounts.
  strategy: incremental
  time_column: sales_date
  interval: 1d
  backfill: 2026-01-01
  reads:
    clean_order_items: {time_column: ordered_at}
  checks:
    - not_null: [sales_date, shop, revenue_cents]
    - range: {column: revenue_cents, min: 0}
  audit: {rows: 0, revenue_cents: 1%}
*/
SELECT
    CAST(o.ordered_at AS DATE) AS sales_date,
    o.shop,
    count(DISTINCT o.order_id) AS orders,
    CAST(sum(
        i.price_cents * CASE o.discount_code
            WHEN 'WELCOME5' THEN 95
            ELSE 100
        END // 100
    ) AS BIGINT) AS revenue_cents
FROM clean_orders AS o
JOIN clean_order_items AS i USING (order_id)
GROUP BY ALL
