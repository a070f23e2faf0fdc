/** How agents are served where nobody said anything about it. */
export const DEFAULT_SERVE_CONFIG = {
  keys: [],
  allowedHosts: [],
  allowedOrigins: [],
  rates: {},
  limits: {},
  settings: {},
  deterministic: false,
} as const;
