/* interlace:
  materialise: file
  path: out/by_day.csv
*/
SELECT ordered_on, count(*) AS orders, sum(amount) AS amount FROM shop.orders GROUP BY ordered_on ORDER BY ordered_on
