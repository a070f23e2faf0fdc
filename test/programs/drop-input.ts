import { dropPendingInput } from "../../src/platform/terminal/pending-input.ts";

/** Drops input typed before its start, while the process is blocked, and prints input typed afterwards. */
const dropping = dropPendingInput(process.stdin, () => undefined);
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
await dropping;
process.stdin.on("data", (typed) => process.stdout.write(typed)).resume();
process.stderr.write("dropped\n");
