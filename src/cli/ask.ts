import { createInterface } from "node:readline/promises";

/** Asks a person whether to go on. Null when there is nobody to ask. */
export async function askWhether(question: string, signal: AbortSignal): Promise<boolean | null> {
  const { stdin, stderr } = process;
  if (!isAsked()) return null;
  const lines = createInterface({ input: stdin, output: stderr });
  // The terminal hands Ctrl-C to whoever reads its lines.
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `, { signal })).trim());
  } finally {
    lines.close();
  }
}

/** Whether there is somebody to ask. */
export function isAsked(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}
