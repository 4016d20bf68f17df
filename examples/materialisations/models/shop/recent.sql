/* interlace: {materialise: view} */
SELECT * FROM shop.orders WHERE ordered_on >= DATE '2026-06-02'
