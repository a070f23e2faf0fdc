import { startGatedProcess } from "../../src/platform/process/gated-process.ts";

/** Holds a program that would make a file, tells its group, and waits to be killed before it has begun. */
const [path = ""] = process.argv.slice(2);
const held = await startGatedProcess("/usr/bin/env", ["touch", path], { environment: {} });
process.send?.(held.group);
