-- What SQL means, and how it prints what it computes, hangs on these settings too. A reload of the server's configuration changes
-- them within a transaction. Values may be anybody's secret, so only what they hash to is read.
SELECT name, pg_catalog.hashtextextended(pg_catalog.concat(name, '=', setting), 0) AS value
FROM pg_catalog.pg_settings
WHERE name IN (
        'array_nulls',
        'backslash_quote',
        'default_text_search_config',
        'lc_monetary',
        'lc_numeric',
        'lc_time',
        'plpgsql.variable_conflict',
        'row_security',
        'search_path',
        'standard_conforming_strings',
        'timezone_abbreviations',
        'transform_null_equals',
        'xmlbinary',
        'xmloption'
    )
   -- Of extensions.
   OR name LIKE '%.%' AND context = 'user'
ORDER BY name
