-- What a person would send to DuckDB for the twelve models of examples/benchmark on an empty database. The strategies have
-- nothing to compare with on a first build; what the two Python models compute is written as SQL.
SET memory_limit = '2GB';
SET TimeZone = 'UTC';
CREATE SCHEMA raw;
CREATE SCHEMA clean;
CREATE SCHEMA mart;
CREATE TABLE raw.events AS
SELECT
    range AS event_id,
    (range * 2654435761) % (1 + {events} // 125) AS user_id,
    TIMESTAMP '2026-06-01' + to_microseconds(range * (30 * 86400000000 // {events})) AS ts,
    CASE (range * 40503) % 10 WHEN 0 THEN 'purchase' WHEN 1 THEN 'cart' WHEN 2 THEN 'search' ELSE 'view' END AS kind,
    CAST(((range * 7919) % 10000) / 100 AS DECIMAL(10, 2)) AS amount,
    ['DE', 'FR', 'US', 'JP', 'BR'][1 + (range * 31) % 5] AS country
FROM range({events});
CREATE VIEW clean.purchases AS SELECT * FROM raw.events WHERE kind = 'purchase';
CREATE TABLE clean.sessions AS
SELECT event_id, user_id, date_trunc('hour', ts) AS hour, user_id * 1000 + hour(ts) AS session_id, amount FROM raw.events;
CREATE TABLE mart.totals AS
SELECT *, md5(concat_ws('|', amount, events)) AS _hash
FROM (SELECT user_id, count(*) AS events, sum(amount) AS amount FROM raw.events GROUP BY user_id);
CREATE TABLE mart.daily_kinds AS SELECT CAST(ts AS DATE) AS day, kind, count(*) AS events FROM raw.events GROUP BY ALL;
CREATE TABLE mart.daily AS
SELECT CAST(ts AS DATE) AS day, region, count(*) AS purchases, sum(amount) AS revenue
FROM clean.purchases
JOIN (VALUES ('DE', 'Europe'), ('FR', 'Europe'), ('US', 'America'), ('BR', 'America'), ('JP', 'Asia')) AS t(country, region)
    USING (country)
GROUP BY ALL;
CREATE TABLE mart.last_purchase AS
SELECT user_id, max(ts) AS last_at, arg_max(amount, ts) AS amount FROM clean.purchases GROUP BY user_id;
CREATE TABLE mart.active AS
SELECT user_id, count(*) AS purchases FROM clean.purchases
WHERE ts >= (SELECT max(ts) FROM clean.purchases) - INTERVAL 7 DAY GROUP BY user_id;
CREATE TABLE mart.tiers AS
SELECT user_id, CASE WHEN amount > 5000 THEN 'gold' WHEN amount > 1000 THEN 'silver' ELSE 'bronze' END AS tier,
    now()::TIMESTAMP AS _valid_from, NULL::TIMESTAMP AS _valid_to
FROM mart.totals;
CREATE TABLE mart.tier_events AS
SELECT user_id, last_at, amount > 50 AS is_big, last_at AS _valid_from, NULL::TIMESTAMP AS _valid_to FROM mart.last_purchase;
CREATE TABLE mart.session_totals AS
SELECT session_id, sum(amount) AS amount_sum, count(amount) AS amount_count FROM clean.sessions GROUP BY session_id;
CREATE SCHEMA prod;
BEGIN;
CREATE VIEW prod.events AS FROM raw.events;
CREATE VIEW prod.daily AS FROM mart.daily;
CREATE VIEW prod.totals AS FROM mart.totals;
COMMIT;
