/* interlace:
  description: Aircraft with one spelling for each manufacturer
  columns:
    tailnum: VARCHAR
    built_year: SMALLINT
    manufacturer: VARCHAR
    model: VARCHAR
    engines: TINYINT
    seats: SMALLINT
  checks:
    - unique: tailnum
    - not_null: [tailnum, manufacturer, model, seats]
    - accepted_values: {column: engines, values: [1, 2, 3, 4]}
    - range: {column: seats, min: 1, max: 500}
    - range: {column: built_year, min: 1950, max: 2013}
*/
SELECT
    tailnum,
    year AS built_year,
    CASE
        WHEN manufacturer LIKE 'AIRBUS%' THEN 'AIRBUS'
        WHEN manufacturer LIKE 'MCDONNELL DOUGLAS%' THEN 'MCDONNELL DOUGLAS'
        WHEN manufacturer LIKE 'BOMBARDIER%' THEN 'BOMBARDIER'
        ELSE manufacturer
    END AS manufacturer,
    model,
    engines,
    seats
FROM raw.planes
