/* interlace:
  materialise: view
  tags: [raw]
  description: One row for each departure planned from New York's three airports in 2013, as in the file
  checks:
    - row_count: {min: 336776, max: 336776}
*/
SELECT *
FROM read_csv('data/flights.csv', auto_detect = false, header = true, nullstr = 'NA', columns = {
    'year': 'SMALLINT', 'month': 'TINYINT', 'day': 'TINYINT',
    'dep_time': 'SMALLINT', 'sched_dep_time': 'SMALLINT', 'dep_delay': 'SMALLINT',
    'arr_time': 'SMALLINT', 'sched_arr_time': 'SMALLINT', 'arr_delay': 'SMALLINT',
    'carrier': 'VARCHAR', 'flight': 'SMALLINT', 'tailnum': 'VARCHAR', 'origin': 'VARCHAR', 'dest': 'VARCHAR',
    'air_time': 'SMALLINT', 'distance': 'SMALLINT', 'hour': 'TINYINT', 'minute': 'TINYINT',
    'time_hour': 'TIMESTAMP' -- UTC
})
