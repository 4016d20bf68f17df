/* interlace: {materialise: ephemeral} */
SELECT * FROM (VALUES ('DE', 'Europe'), ('FR', 'Europe'), ('US', 'America'), ('BR', 'America'), ('JP', 'Asia')) t(country, region)
