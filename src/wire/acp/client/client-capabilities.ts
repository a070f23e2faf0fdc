import type { JsonObject } from "../../../data/json.ts";

/** What a client brings along. */
export interface ClientFeatures {
  readonly readsFiles: boolean;
  readonly writesFiles: boolean;
  readonly runsTerminals: boolean;
  /** What a bridge may ask it for beside ACP, by name. */
  readonly bridge: readonly string[];
}

/** `_meta.harn` is there also when nothing is in it: by it the client says that it knows the bridge. */
export function encodeClientCapabilities(features: ClientFeatures): JsonObject {
  const { readsFiles, writesFiles, runsTerminals, bridge } = features;
  return {
    fs: { readTextFile: readsFiles, writeTextFile: writesFiles },
    terminal: runsTerminals,
    _meta: { harn: Object.fromEntries(bridge.map((name) => [name, true])) },
  };
}
