/* interlace:
  materialise: ephemeral
  description: What each aircraft did, in order of time; the input of clean.rotations
*/
SELECT
    tailnum,
    flight_id,
    scheduled_utc,
    dep_delay_min,
    coalesce(air_time_min, distance_mi // 8) AS flown_min -- diverted flights have no time in the air: 8 miles a minute
FROM clean.flights
WHERE NOT is_cancelled
ORDER BY tailnum, scheduled_utc, flight_id
