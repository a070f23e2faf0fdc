import { vi } from "vitest";
import { PROCESS_MS } from "./with-deadline.ts";

/** Retries a check until it holds. Its last error is thrown if it does not hold in time. */
export async function eventually<Value>(check: () => Value): Promise<Value> {
  return vi.waitFor(check, { timeout: PROCESS_MS, interval: 5 });
}
