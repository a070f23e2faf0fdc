/**
 * How much work randomised and exhaustive tests do. `npm run test:fast` sets `quick`, `npm run test:full` sets `full`.
 * Default: `usual`.
 */
export type TestDepth = "quick" | "usual" | "full";

export function testDepth(): TestDepth {
  const depth = process.env["SPANLINE_TEST_DEPTH"];
  return depth === "quick" || depth === "full" ? depth : "usual";
}

/** The number of random cases: a tenth of it in the fast lane, at least 20. */
export function runs(count: number): number {
  return testDepth() === "quick" ? Math.max(20, Math.ceil(count / 10)) : count;
}
