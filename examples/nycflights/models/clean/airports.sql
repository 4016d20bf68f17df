/* interlace:
  columns:
    faa: VARCHAR
    name: VARCHAR
    lat: DOUBLE
    lon: DOUBLE
    alt_ft: SMALLINT
    tz_name: VARCHAR
  checks:
    - unique: faa
    - pattern: {column: faa, regex: '^[0-9A-Z]{3}$'}
    - not_null: [faa, name, lat, lon]
    - range: {column: lat, min: -90, max: 90}
    - range: {column: lon, min: -180, max: 180}
*/
SELECT
    faa,
    trim(name) AS name,
    lat,
    lon,
    alt AS alt_ft,
    tzone AS tz_name
FROM raw.airports
