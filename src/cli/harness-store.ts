import { join } from "node:path";
import { stateDirectory } from "../platform/state-directory.ts";
import type { ControlClient } from "../provisioning/control-client.ts";
import { openFileStore } from "../provisioning/file-store.ts";
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
  return harnessCache(client, await openFileStore(storePath(flags), warn));
}

export function storePath({ store }: StoreFlags): string {
  return store ?? join(stateDirectory(process.env, process.cwd()), "harness-handles.json");
}
