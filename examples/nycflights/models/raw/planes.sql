/* interlace:
  materialise: view
  tags: [raw]
  description: The register's entry of most aircraft
*/
SELECT *
FROM read_csv('data/planes.csv', auto_detect = false, header = true, nullstr = 'NA', columns = {
    'tailnum': 'VARCHAR', 'year': 'SMALLINT', 'type': 'VARCHAR', 'manufacturer': 'VARCHAR', 'model': 'VARCHAR',
    'engines': 'TINYINT', 'seats': 'SMALLINT', 'speed': 'SMALLINT', 'engine': 'VARCHAR'
})
