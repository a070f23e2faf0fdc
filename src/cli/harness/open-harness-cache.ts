import { join } from "node:path";
import type { ControlClient } from "../../provisioning/control-client.ts";
import { openFileHandleStore } from "../../provisioning/file-handle-store.ts";
import { resolveDataDirectory } from "../shared/flags/resolve-data-directory.ts";
import { createHarnessCache, type HarnessCache } from "../../provisioning/harness-cache.ts";

export interface StoreFlags {
  readonly store?: string;
}

/** The harnesses and tags that are remembered here. */
export async function openHarnessCache(
  client: ControlClient,
  flags: StoreFlags,
  warn: (message: string) => void,
): Promise<HarnessCache> {
  return createHarnessCache(client, await openFileHandleStore(resolveStorePath(flags, warn), warn));
}

export function resolveStorePath({ store }: StoreFlags, warn: (message: string) => void): string {
  return store ?? join(resolveDataDirectory(undefined, warn), "harness-handles.json");
}
