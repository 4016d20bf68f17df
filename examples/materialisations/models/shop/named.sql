/* interlace: {materialise: ephemeral} */
SELECT *, upper(customer) AS customer_name FROM shop.orders
