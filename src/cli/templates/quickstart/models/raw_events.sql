/* interlace:
  description: Visits and purchases, as they would come from a source.
*/
SELECT *
FROM (
    VALUES
        (1, 'ada', 'DE', 'visit', NULL, TIMESTAMP '2026-07-01 08:00:00'),
        (2, 'ada', 'DE', 'purchase', 59.90, TIMESTAMP '2026-07-01 08:05:00'),
        (3, 'ben', 'FR', 'visit', NULL, TIMESTAMP '2026-07-01 09:10:00'),
        (4, 'cleo', 'US', 'visit', NULL, TIMESTAMP '2026-07-01 09:30:00'),
        (5, 'cleo', 'US', 'purchase', 120.00, TIMESTAMP '2026-07-01 09:42:00'),
        (6, 'dan', 'DE', 'visit', NULL, TIMESTAMP '2026-07-02 10:00:00'),
        (7, 'ben', 'FR', 'visit', NULL, TIMESTAMP '2026-07-02 10:15:00'),
        (8, 'ben', 'FR', 'purchase', 18.50, TIMESTAMP '2026-07-02 10:20:00'),
        (9, 'eve', 'US', 'visit', NULL, TIMESTAMP '2026-07-02 11:00:00'),
        (10, 'dan', 'DE', 'purchase', 74.99, TIMESTAMP '2026-07-02 11:05:00'),
        (11, 'eve', 'US', 'visit', NULL, TIMESTAMP '2026-07-03 12:00:00'),
        (12, 'fay', 'FR', 'visit', NULL, TIMESTAMP '2026-07-03 12:30:00')
) AS events (event_id, user_name, country, kind, amount, happened_at)
