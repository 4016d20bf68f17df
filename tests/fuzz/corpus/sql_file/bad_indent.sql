/* interlace:
  strategy: merge
   key: id
*/
SELECT 1