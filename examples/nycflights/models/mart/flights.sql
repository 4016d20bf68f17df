/* interlace:
  description: Every flight with its carrier, aircraft, weather at the start and the delay it inherited
  columns:
    flight_id: VARCHAR
    flight_date: DATE
    carrier: VARCHAR
    origin: VARCHAR
    dest: VARCHAR
    is_cancelled: BOOLEAN
    left_late: BOOLEAN
    arrived_late: BOOLEAN
    inherited_min: SMALLINT
    own_min: SMALLINT
  checks:
    - unique: flight_id
    - not_null: [flight_id, flight_date, carrier_name]
    - type: sql
      name: no_flight_lost_or_doubled
      query: >
        SELECT 1 WHERE (SELECT count(*) FROM {table}) <> (SELECT count(*) FROM clean.flights)
    - type: expression
      name: delay_is_own_or_inherited
      expression: own_min + inherited_min = greatest(dep_delay_min, 0)
    - not_null: {column: wind_mph, where: NOT is_cancelled, severity: info}
*/
SELECT
    f.flight_id,
    f.scheduled::DATE AS flight_date,
    f.scheduled,
    f.carrier,
    a.name AS carrier_name,
    f.flight_no,
    f.tailnum,
    p.manufacturer,
    p.seats,
    f.origin,
    f.dest,
    f.distance_mi,
    f.is_cancelled,
    f.dep_delay_min,
    f.arr_delay_min,
    is_late(f.dep_delay_min) AS left_late,
    is_late(f.arr_delay_min) AS arrived_late,
    r.leg,
    r.inherited_min,
    r.own_min,
    r.delay_origin_id,
    w.wind_mph,
    w.precip_in,
    w.visib_mi
FROM clean.flights AS f
JOIN raw.airlines AS a ON a.carrier = f.carrier
LEFT JOIN clean.planes AS p ON p.tailnum = f.tailnum
LEFT JOIN clean.rotations AS r ON r.flight_id = f.flight_id
LEFT JOIN clean.weather AS w ON w.origin = f.origin AND w.hour_utc = f.hour_utc
