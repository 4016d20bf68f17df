/* interlace:
  materialise: table
  target: crm.main.out
  indexes: [id, {columns: [a, b], unique: true}]
  constraints: [{primary_key: id}, {type: foreign_key, columns: c, to: t, fields: id}]
  schema: {columns: reject}
*/ SELECT 1