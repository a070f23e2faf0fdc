import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readProcessStartTime } from "../../platform/process/process-start-time.ts";
import { readSavedFile, saveFile } from "../../platform/files/saved-file.ts";

/** Writes down that this process listens on a port for a directory; gives back how to take that back. */
export async function recordListeningPort(
  directory: string,
  port: number,
): Promise<() => Promise<void>> {
  const file = resolvePortFile(directory, port);
  await saveFile(file, `${process.pid} ${await readProcessStartTime(process.pid)}\n`);
  return () => rm(file, { force: true });
}

/** The process that listens there for the same directory; undefined when none that lives says so. */
export async function findListeningProcess(
  directory: string,
  port: number,
): Promise<number | undefined> {
  const text = await readSavedFile(resolvePortFile(directory, port)).catch(() => undefined);
  const [pid = "", ...born] = (text ?? "").trim().split(" ");
  if (!/^\d+$/.test(pid) || born.length === 0) return undefined;
  return (await readProcessStartTime(Number(pid))) === born.join(" ") ? Number(pid) : undefined;
}

function resolvePortFile(directory: string, port: number): string {
  return join(directory, `up-${port}.pid`);
}
