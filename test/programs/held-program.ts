import { startGatedProcess } from "../../src/platform/process/gated-process.ts";

/**
 * Starts a gated process which would create a file, prints the process group, and waits to be killed before the gate
 * opens. The file must never be created.
 */
const [path = ""] = process.argv.slice(2);
const program = await startGatedProcess("/usr/bin/env", ["touch", path], { environment: {} });
process.send?.(program.group);
