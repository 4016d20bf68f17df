/* interlace:
  materialise: file
  path: out/parts
  format: parquet
  options: {partition_by: ordered_on, compression: zstd}
*/
SELECT * FROM shop.orders
