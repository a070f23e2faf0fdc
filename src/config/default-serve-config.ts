/** Defaults of the `serve` section. */
export const DEFAULT_SERVE_CONFIG = {
  keys: [],
  allowedHosts: [],
  allowedOrigins: [],
  rates: {},
  limits: {},
  settings: {},
  deterministic: false,
  webhooks: [],
  a2a: {},
} as const;
