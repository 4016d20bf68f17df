/* interlace:
  description: Each day's traffic, its delay and the worst of its weather
  columns: {day: DATE, flights: BIGINT, cancelled: BIGINT, late_share: DOUBLE, own_min: BIGINT, inherited_min: BIGINT}
  checks:
    - unique: day
    - row_count: {min: 365, max: 365}
    - expression: {name: cancelled_are_flights, expression: cancelled <= flights}
*/
WITH weather AS (
    SELECT
        observed_on AS day,
        max(wind_mph) AS max_wind_mph,
        min(visib_mi) AS min_visib_mi,
        sum(precip_in) AS precip_in -- over the three airports
    FROM clean.weather
    GROUP BY observed_on
)
SELECT
    flight_date AS day,
    count(*) AS flights,
    count(*) FILTER (WHERE is_cancelled) AS cancelled,
    share(count(*) FILTER (WHERE left_late), count(*) FILTER (WHERE NOT is_cancelled)) AS late_share,
    coalesce(sum(own_min), 0)::BIGINT AS own_min,
    coalesce(sum(inherited_min), 0)::BIGINT AS inherited_min,
    any_value(w.max_wind_mph) AS max_wind_mph,
    any_value(w.min_visib_mi) AS min_visib_mi,
    any_value(w.precip_in) AS precip_in
FROM mart.flights
LEFT JOIN weather AS w ON w.day = flight_date
GROUP BY flight_date
ORDER BY day
