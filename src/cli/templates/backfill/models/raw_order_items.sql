/* interlace:
  description: One to three items for each order.
  materialise: view
*/
SELECT
    o.order_id,
    item,
    o.ordered_at,
    1000 + (o.order_id * 37 + item * 411) % 4000 AS price_cents
FROM raw_orders AS o, range(1, 2 + o.order_id % 3) AS items (item)
