/* interlace:
  owner: me
  tags: [a]
  schedule: {cron: "0 6 * * *", jitter: 30s}
  columns: {a: BIGINT, b: null}
  checks:
    - not_null: id
*/
SELECT 1
