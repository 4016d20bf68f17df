/* interlace:
  materialise: table
  target: crm.customers
  strategy: merge
  key: customer
  description: Columns that the other side adds to its table stay as they are.
*/
SELECT customer, any_value(customer_name) AS customer_name, sum(amount) AS amount FROM shop.named GROUP BY customer
