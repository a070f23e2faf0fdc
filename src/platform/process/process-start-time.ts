import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/**
 * When a process began, in the system's words, which tells it from a later one with the same number. Empty where it is
 * gone, or dead and not yet reaped, or where the system does not tell.
 */
export async function readProcessStartTime(pid: number): Promise<string> {
  try {
    if (process.platform !== "linux") {
      const { stdout } = await execute("ps", ["-o", "lstart=", "-p", String(pid)]);
      return stdout.trim();
    }
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may have spaces; the state is the first field behind it, the start time the twentieth.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? "" : (fields[19] ?? "");
  } catch {
    return "";
  }
}

const execute = promisify(execFile);
