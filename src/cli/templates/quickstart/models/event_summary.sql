/* interlace:
  description: One row for each country.
  checks:
    - not_null: [country, revenue]
    - unique: country
*/
SELECT
    country,
    count(*) AS events,
    count(*) FILTER (WHERE is_conversion) AS conversions,
    sum(revenue) AS revenue
FROM enriched_events
GROUP BY country
ORDER BY country
