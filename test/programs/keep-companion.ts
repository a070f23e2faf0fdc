import { once } from "node:events";
import { startCompanion } from "../../src/platform/process/companion.ts";

/** Runs a shell script as a companion, forwards the number which the script prints, and waits to be killed. */
const [script = ""] = process.argv.slice(2);
const environment = { PATH: process.env["PATH"] ?? "" };
const { output, errors } = await startCompanion("/bin/sh", ["-c", script], { environment });
errors.resume();
const [pid]: unknown[] = await once(output, "data");
process.send?.(Number(pid));
