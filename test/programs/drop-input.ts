import { dropPendingInput } from "../../src/platform/terminal/pending-input.ts";

/** Drops what was typed before it began, while something holds it up, and prints what is typed after that. */
const dropping = dropPendingInput(process.stdin, () => undefined);
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
await dropping;
process.stdin.on("data", (typed) => process.stdout.write(typed)).resume();
process.stderr.write("dropped\n");
