/** Size limits of a policy, because every tool call is compared with all its rules and patterns. */
export const MAX_COUNTS = {
  rules: 1_000,
  listed: 1_000,
  patterns: 200,
  argumentTests: 50,
  choices: 200,
  approvers: 16,
  layers: 32,
} as const;

/** Characters. */
export const MAX_LENGTHS = {
  pattern: 1_000,
  expression: 1_000,
  id: 100,
  text: 2_000,
  /** Characters of the value's JSON. */
  value: 4_000,
} as const;
