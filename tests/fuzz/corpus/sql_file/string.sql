SELECT '/* interlace: {materialise: view} */' -- interlace: {}
