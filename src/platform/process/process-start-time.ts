import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/**
 * The start time of a process, in a format of the system. Distinguishes a process from a later process with the same
 * id. Empty if the process is gone or not yet reaped, or if the system does not provide the time.
 */
export async function readProcessStartTime(pid: number): Promise<string> {
  try {
    if (process.platform !== "linux") {
      const { stdout } = await execute("ps", ["-o", "lstart=", "-p", String(pid)]);
      return stdout.trim();
    }
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may contain spaces. After the name, the first field is the state and the twentieth field
    // is the start time.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? "" : (fields[19] ?? "");
  } catch {
    return "";
  }
}

const execute = promisify(execFile);
