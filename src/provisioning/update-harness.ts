import type { Harness } from "../wire/agentcore/control/control-response.ts";
import type { HarnessChanges } from "../wire/agentcore/control/harness-settings.ts";
import { waitForEndpoint, waitForHarness } from "./wait-until-ready.ts";
import { DEFAULT_ENDPOINT, explainTimeout, type Poll } from "./poll.ts";

/** Updates a harness and waits until the change is served. */
export async function updateHarness(
  poll: Poll,
  id: string,
  changes: HarnessChanges,
): Promise<Harness> {
  const { client, budget } = poll;
  try {
    const { version } = await client.updateHarness(id, changes, budget);
    return await waitUntilReady(poll, id, { version });
  } catch (error) {
    throw explainTimeout(error, poll, { harness: id, phase: "harness" });
  }
}

export interface ReadyTarget {
  readonly endpoint?: string | undefined;
  /** The minimum version. Reads lag behind writes, so a read with an older version is ignored. */
  readonly version?: string | null;
}

/** Waits for a harness and its endpoint. DEFAULT follows the newest version; any other endpoint keeps its version. */
export async function waitUntilReady(
  poll: Poll,
  id: string,
  { endpoint = DEFAULT_ENDPOINT, version = null }: ReadyTarget = {},
): Promise<Harness> {
  const harness = await waitForHarness(poll, id, version);
  const served = endpoint === DEFAULT_ENDPOINT ? harness.version : null;
  await waitForEndpoint(poll, id, { name: endpoint, version: served });
  return harness;
}
