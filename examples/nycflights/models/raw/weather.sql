/* interlace:
  materialise: view
  tags: [raw]
  description: Hourly readings at the three airports
*/
SELECT *
FROM read_csv('data/weather.csv', auto_detect = false, header = true, nullstr = 'NA', columns = {
    'origin': 'VARCHAR', 'year': 'SMALLINT', 'month': 'TINYINT', 'day': 'TINYINT', 'hour': 'TINYINT',
    'temp': 'DOUBLE', 'dewp': 'DOUBLE', 'humid': 'DOUBLE',
    'wind_dir': 'SMALLINT', 'wind_speed': 'DOUBLE', 'wind_gust': 'DOUBLE',
    'precip': 'DOUBLE', 'pressure': 'DOUBLE', 'visib': 'DOUBLE',
    'time_hour': 'TIMESTAMP' -- UTC
})
