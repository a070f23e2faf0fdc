import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** What a value keeps alive, in bytes. */
export function measureRetainedBytes(make: () => unknown): number {
  const bytesBefore = measureUsedBytes();
  const retained = [make()];
  const bytes = measureUsedBytes() - bytesBefore;
  retained.pop();
  return bytes;
}

/** What is alive. Node keeps long strings outside of the heap, and what lies there goes one collection later. */
export function measureUsedBytes(): number {
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
