/* interlace:
  description: Each pair of airports, with the distance flown beside the one on the globe
  columns:
    origin: VARCHAR
    dest: VARCHAR
    dest_name: VARCHAR
    flights: BIGINT
    carriers: BIGINT
    distance_mi: SMALLINT
    great_circle_mi: DOUBLE
    median_arr_delay_min: DOUBLE
    p90_arr_delay_min: DOUBLE
    late_share: DOUBLE
  checks:
    - unique: [origin, dest]
    - row_count: {min: 200, max: 250}
    - expression: {name: origin_is_not_dest, expression: origin <> dest}
    - expression: {name: distance_fits_the_globe, expression: abs(distance_mi - great_circle_mi) <= 10}
    - not_null: {column: dest_name, severity: warn}
*/
SELECT
    f.origin,
    f.dest,
    any_value(d.name) AS dest_name,
    count(*) AS flights,
    count(DISTINCT f.carrier) AS carriers,
    max(f.distance_mi) AS distance_mi,
    any_value(round(great_circle_mi(o.lat, o.lon, d.lat, d.lon), 1)) AS great_circle_mi,
    round(quantile_cont(f.arr_delay_min, 0.5), 1)::DOUBLE AS median_arr_delay_min,
    round(quantile_cont(f.arr_delay_min, 0.9), 1)::DOUBLE AS p90_arr_delay_min,
    share(count(*) FILTER (WHERE f.arrived_late), count(f.arr_delay_min)) AS late_share
FROM mart.flights AS f
JOIN clean.airports AS o ON o.faa = f.origin
LEFT JOIN clean.airports AS d ON d.faa = f.dest
GROUP BY f.origin, f.dest
ORDER BY f.origin, f.dest
