/* interlace:
  materialise: view
*/
SELECT order_id, shop, ordered_at, upper(trim(discount_code)) AS discount_code
FROM raw_orders
WHERE ordered_at IS NOT NULL
