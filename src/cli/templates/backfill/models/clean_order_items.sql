/* interlace:
  materialise: view
*/
SELECT order_id, item, ordered_at, price_cents
FROM raw_order_items
WHERE price_cents > 0
