import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** What a value keeps alive, in bytes. */
export function keptBytes(make: () => unknown): number {
  const before = usedBytes();
  const kept = [make()];
  const bytes = usedBytes() - before;
  kept.pop();
  return bytes;
}

/** What is alive. Node keeps long strings outside of the heap, and what lies there goes one collection later. */
export function usedBytes(): number {
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
