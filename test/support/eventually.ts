import { vi } from "vitest";
import { PROCESS_MS } from "./with-deadline.ts";

/** Retries a check until it passes. Throws the last error after the timeout. */
export async function eventually<Value>(check: () => Value): Promise<Value> {
  return vi.waitFor(check, { timeout: PROCESS_MS, interval: 5 });
}
