/* interlace:
  description: Readings by airport and hour, as decimals, so that their sums do not depend on the order of rows
  columns:
    origin: VARCHAR
    hour_utc: TIMESTAMP
    observed_on: DATE
    temp_f: DECIMAL(5,2)
    wind_mph: DECIMAL(6,2)
    precip_in: DECIMAL(4,2)
    visib_mi: DECIMAL(4,2)
    pressure_mb: DECIMAL(6,1)
  checks:
    - unique: [origin, hour_utc]
    - not_null: [origin, hour_utc, observed_on, precip_in, visib_mi]
    - range: {column: temp_f, min: -30, max: 120}
    - range: {column: visib_mi, min: 0, max: 10}
    - range: {column: pressure_mb, min: 900, max: 1100}
    - range: {column: wind_mph, min: 0, max: 150}
    - relationships: {column: origin, to: clean.airports, field: faa}
*/
SELECT
    origin,
    time_hour AS hour_utc,
    make_date(year, month, day) AS observed_on, -- New York's calendar
    temp::DECIMAL(5, 2) AS temp_f,
    CASE WHEN wind_speed <= var('wind_limit_mph') THEN wind_speed::DECIMAL(6, 2) END AS wind_mph,
    precip::DECIMAL(4, 2) AS precip_in,
    visib::DECIMAL(4, 2) AS visib_mi,
    pressure::DECIMAL(6, 1) AS pressure_mb
FROM raw.weather
