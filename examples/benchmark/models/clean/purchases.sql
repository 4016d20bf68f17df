/* interlace: {materialise: view} */
SELECT * FROM raw.events WHERE kind = 'purchase'
