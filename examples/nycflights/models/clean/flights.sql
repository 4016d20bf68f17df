/* interlace:
  description: Planned departures with a key, real timestamps and one word for each thing
  columns:
    flight_id: VARCHAR
    carrier: VARCHAR
    flight_no: SMALLINT
    tailnum: VARCHAR
    origin: VARCHAR
    dest: VARCHAR
    scheduled: TIMESTAMP
    scheduled_utc: TIMESTAMP
    hour_utc: TIMESTAMP
    dep_delay_min: SMALLINT
    arr_delay_min: SMALLINT
    air_time_min: SMALLINT
    distance_mi: SMALLINT
    is_cancelled: BOOLEAN
  checks:
    - unique: flight_id
    - not_null: [flight_id, carrier, origin, dest, scheduled, distance_mi, is_cancelled]
    - accepted_values: {column: origin, values: [EWR, JFK, LGA]}
    - pattern: {column: flight_id, regex: '^201[34]\d{6}-[0-9A-Z]{2}\d{1,4}$'}
    - pattern: {column: tailnum, regex: '^N[0-9A-Z]{1,5}$', severity: warn}
    - range: {column: scheduled, min: '2013-01-01', max: '2013-12-31 23:59:59'}
    - range: {column: dep_delay_min, min: -60, max: 1440}
    - {type: expression, name: cancelled_has_no_delay, expression: 'is_cancelled = (dep_delay_min IS NULL)'}
    - {type: expression, name: utc_is_4_or_5_hours_ahead, expression: 'date_diff(''hour'', scheduled, scheduled_utc) IN (4, 5)'}
    - relationships: {column: carrier, to: raw.airlines, field: carrier}
    - relationships: {column: origin, to: clean.airports, field: faa}
    - relationships: {column: dest, to: clean.airports, field: faa, severity: warn}
    - relationships: {column: tailnum, to: clean.planes, field: tailnum, severity: info}
*/
SELECT
    strftime(time_hour, '%Y%m%d%H') || '-' || carrier || flight AS flight_id,
    carrier,
    flight AS flight_no,
    tailnum,
    origin,
    dest,
    make_timestamp(year, month, day, hour, minute, 0) AS scheduled, -- New York's clock
    time_hour + to_minutes(minute) AS scheduled_utc,
    time_hour AS hour_utc,
    dep_delay AS dep_delay_min,
    arr_delay AS arr_delay_min,
    air_time AS air_time_min,
    distance AS distance_mi,
    dep_time IS NULL AS is_cancelled
FROM raw.flights
