/* interlace:
  materialise: view
  tags: [raw]
  description: Names of the carriers
  checks:
    - unique: carrier
    - not_null: [carrier, name]
*/
SELECT *
FROM read_csv('data/airlines.csv', auto_detect = false, header = true, columns = {'carrier': 'VARCHAR', 'name': 'VARCHAR'})
