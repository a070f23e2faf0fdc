import { join, resolve } from "node:path";
import type { ControlClient } from "../../provisioning/control-client.ts";
import { openFileHandleStore } from "../../provisioning/file-handle-store.ts";
import { resolveDataDirectory } from "../shared/flags/resolve-data-directory.ts";
import { createHarnessCache, type HarnessCache } from "../../provisioning/harness-cache.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export interface StoreFlags {
  readonly store?: string;
}

/** Opens the local cache of harnesses and tags. */
export async function openHarnessCache(
  client: ControlClient,
  flags: StoreFlags & { readonly io: CommandIo },
  warn: (message: string) => void,
): Promise<HarnessCache> {
  const path = resolveStorePath(flags, flags.io, warn);
  return createHarnessCache(client, await openFileHandleStore(path, warn));
}

export function resolveStorePath(
  { store }: StoreFlags,
  io: CommandIo,
  warn: (message: string) => void,
): string {
  if (store !== undefined) return resolve(io.cwd, store);
  return join(resolveDataDirectory(undefined, io, warn), "harness-handles.json");
}
