import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readProcessStartTime } from "../../platform/process/process-start-time.ts";
import { readSavedFile, saveFile } from "../../platform/files/saved-file.ts";

export interface PortRecord {
  readonly port: number;
  readonly url: string;
  readonly hasPortal: boolean;
}

/** A live process that listens on a port for a data directory. */
export interface ListeningProcess {
  readonly pid: number;
  /** Undefined if the process has no portal. */
  readonly portalUrl: string | undefined;
}

/** Records that this process listens on a port for a directory. Returns the function that removes the record. */
export async function recordListeningPort(
  directory: string,
  { port, url, hasPortal }: PortRecord,
): Promise<() => Promise<void>> {
  const file = resolvePortFile(directory, port);
  const owner = `${process.pid} ${await readProcessStartTime(process.pid)}`;
  await saveFile(file, `${owner}\n${hasPortal ? `${url}\n` : ""}`);
  return () => rm(file, { force: true });
}

/** Undefined if no live process has recorded that it listens on this port for this directory. */
export async function findListeningProcess(
  directory: string,
  port: number,
): Promise<ListeningProcess | undefined> {
  const text = await readSavedFile(resolvePortFile(directory, port)).catch(() => undefined);
  const [owner = "", portalUrl] = (text ?? "").trim().split("\n");
  const [pid = "", ...born] = owner.split(" ");
  if (!/^\d+$/.test(pid) || born.length === 0) return undefined;
  const isAlive = (await readProcessStartTime(Number(pid))) === born.join(" ");
  return isAlive ? { pid: Number(pid), portalUrl } : undefined;
}

function resolvePortFile(directory: string, port: number): string {
  return join(directory, `up-${port}.pid`);
}
