-- NULL for a flight that never left or never arrived.
CREATE MACRO is_late(delay_min) AS delay_min >= var('late_minutes');

-- Per cent with one digit; NULL of nothing.
CREATE MACRO share(part, whole) AS round(100.0 * part / nullif(whole, 0), 1);

-- Miles along the great circle between two places in degrees.
CREATE MACRO great_circle_mi(lat_a, lon_a, lat_b, lon_b) AS
    2 * 3958.8 * asin(sqrt(
        sin(radians(lat_b - lat_a) / 2) ** 2
        + cos(radians(lat_a)) * cos(radians(lat_b)) * sin(radians(lon_b - lon_a) / 2) ** 2
    ));
