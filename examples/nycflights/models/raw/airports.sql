/* interlace:
  materialise: view
  tags: [raw]
  description: Airports of the United States with their places
*/
SELECT *
FROM read_csv('data/airports.csv', auto_detect = false, header = true, nullstr = 'NA', columns = {
    'faa': 'VARCHAR', 'name': 'VARCHAR', 'lat': 'DOUBLE', 'lon': 'DOUBLE', 'alt': 'SMALLINT',
    'tz': 'TINYINT', 'dst': 'VARCHAR', 'tzone': 'VARCHAR'
})
