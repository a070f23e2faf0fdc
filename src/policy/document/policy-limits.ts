/** How much a policy may hold. A call is compared with all of it. */
export const MAX_COUNTS = {
  rules: 1_000,
  listed: 1_000,
  patterns: 200,
  argumentTests: 50,
  choices: 200,
  approvers: 16,
  layers: 32,
} as const;

export const MAX_LENGTHS = {
  pattern: 1_000,
  expression: 1_000,
  id: 100,
  text: 2_000,
  /** As JSON. */
  value: 4_000,
} as const;
