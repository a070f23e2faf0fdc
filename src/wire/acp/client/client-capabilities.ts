import type { JsonObject } from "../../../data/json.ts";

/** The features of a client for `initialize`. */
export interface ClientFeatures {
  readonly readsFiles: boolean;
  readonly writesFiles: boolean;
  readonly runsTerminals: boolean;
  /** The client shows questions as forms. */
  readonly showsForms: boolean;
  /** Names of the bridge features that the client supports. */
  readonly bridge: readonly string[];
}

/**
 * Encodes the client capabilities. `_meta.harn` is present even if it is empty, because its presence marks the client
 * as a bridge host.
 */
export function encodeClientCapabilities(features: ClientFeatures): JsonObject {
  const { readsFiles, writesFiles, runsTerminals, showsForms, bridge } = features;
  return {
    fs: { readTextFile: readsFiles, writeTextFile: writesFiles },
    terminal: runsTerminals,
    ...(showsForms && { elicitation: { form: {} } }),
    _meta: { harn: Object.fromEntries(bridge.map((name) => [name, true])) },
  };
}
