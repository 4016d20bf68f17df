-- virtual: a table of its own, shown by a view in each environment
SELECT * FROM read_csv('seeds/orders.csv')
