/* interlace: {materialise: table, target: crm.delivery.order_log, strategy: append} */
SELECT order_id, amount FROM shop.orders
