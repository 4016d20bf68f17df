/* interlace:
  strategy: incremental
  time_column: day
  interval: 1d
  checks:
    - not_null: [day, revenue]
    - unique: [day, region]
*/
SELECT CAST(ts AS DATE) AS day, region, count(*) AS purchases, sum(amount) AS revenue
FROM clean.purchases JOIN clean.countries USING (country)
GROUP BY ALL
