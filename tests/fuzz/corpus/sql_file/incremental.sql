-- (c) us
/* licence */
/* interlace:
  name: silver.orders
  strategy: incremental
  time_column: ts
  interval: 6h
  key: [id, day]
  reads: {events: {time_column: ts, before: 1d}}
  clock: window
*/
SELECT * FROM events
