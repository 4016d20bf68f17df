/* interlace:
  description: How punctual each carrier is, and how much of its delay it hands on to itself
  columns: [carrier, name, flights, cancelled, aircraft, late_share, mean_dep_delay_min, own_min, inherited_min, inherited_share]
  checks:
    - unique: carrier
    - row_count: {min: 16, max: 16}
    - range: {column: late_share, min: 0, max: 100}
    - relationships: {column: carrier, to: raw.airlines, field: carrier}
*/
SELECT
    carrier,
    any_value(carrier_name) AS name,
    count(*) AS flights,
    count(*) FILTER (WHERE is_cancelled) AS cancelled,
    count(DISTINCT tailnum) AS aircraft,
    share(count(*) FILTER (WHERE left_late), count(*) FILTER (WHERE NOT is_cancelled)) AS late_share,
    round(avg(dep_delay_min), 2) AS mean_dep_delay_min,
    sum(own_min)::BIGINT AS own_min,
    sum(inherited_min)::BIGINT AS inherited_min,
    share(sum(inherited_min), sum(own_min) + sum(inherited_min)) AS inherited_share
FROM mart.flights
GROUP BY carrier
ORDER BY carrier
