import { join } from "node:path";
import type { ControlClient } from "../provisioning/control-client.ts";
import { openFileStore } from "../provisioning/file-store.ts";
import { dataDirectory } from "./data-directory.ts";
import { harnessCache, type HarnessCache } from "../provisioning/harness-cache.ts";

export interface StoreFlags {
  readonly store?: string;
}

/** The harnesses and tags that are remembered here. */
export async function openCache(
  client: ControlClient,
  flags: StoreFlags,
  warn: (message: string) => void,
): Promise<HarnessCache> {
  return harnessCache(client, await openFileStore(storePath(flags, warn), warn));
}

export function storePath({ store }: StoreFlags, warn: (message: string) => void): string {
  return store ?? join(dataDirectory(undefined, warn), "harness-handles.json");
}
