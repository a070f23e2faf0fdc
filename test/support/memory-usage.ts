import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** The bytes retained by a value. */
export function measureRetainedBytes(make: () => unknown): number {
  const bytesBefore = measureUsedBytes();
  const retained = [make()];
  const bytes = measureUsedBytes() - bytesBefore;
  retained.pop();
  return bytes;
}

/**
 * The bytes in use. Includes external memory, where Node stores long strings; this memory is freed one collection
 * later, so the garbage is collected twice.
 */
export function measureUsedBytes(): number {
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
