import { vi } from "vitest";

/** Waits until something holds, however busy the machine is. */
export async function eventually<Value>(check: () => Value): Promise<Value> {
  return vi.waitFor(check, { timeout: 120_000, interval: 5 });
}
