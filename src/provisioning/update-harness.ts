import type { Harness } from "../wire/agentcore/control/control-response.ts";
import type { HarnessChanges } from "../wire/agentcore/control/harness-settings.ts";
import { waitForEndpoint, waitForHarness } from "./wait-until-ready.ts";
import { DEFAULT_ENDPOINT, explainTimeout, type Poll } from "./poll.ts";

/** Changes a harness and waits until that has reached its callers. */
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
  /** Reads lag behind writes: one that shows an older version says nothing of this one. */
  readonly version?: string | null;
}

/** A harness is ready when its endpoint is too; DEFAULT follows the newest version, any other stays where it is. */
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
