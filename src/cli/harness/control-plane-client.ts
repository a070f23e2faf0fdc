import { createControlClient, type ControlClient } from "../../provisioning/control-client.ts";
import { resolveRegion } from "../../provisioning/resolve-region.ts";
import { resolveConnection, type ConnectionFlags } from "../shared/flags/connection-flags.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export interface ControlPlaneFlags extends ConnectionFlags {
  readonly region?: string;
}

/**
 * Creates a client for the control plane from flags and environment. `reference` may be an ARN, which contains the
 * region.
 */
export async function createControlClientFromFlags(
  flags: ControlPlaneFlags,
  { env }: CommandIo,
  reference?: string,
): Promise<ControlClient> {
  const connection = resolveConnection(flags, env, "control");
  const region = await resolveRegion(
    {
      region: flags.region,
      reference,
      profile: flags.profile,
      fallback: connection.credentials === undefined ? undefined : EMULATOR_REGION,
    },
    env,
  );
  return createControlClient({ ...connection, region });
}

const EMULATOR_REGION = "us-east-1";
