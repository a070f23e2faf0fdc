import { controlClient, type ControlClient } from "../provisioning/control-client.ts";
import { regionFrom } from "../provisioning/region.ts";
import { connectionFrom, type ConnectionFlags } from "./connection.ts";

export interface PlaceFlags extends ConnectionFlags {
  readonly region?: string;
}

/** The control plane that flags and environment lead to; `reference` may be an ARN, which names its region. */
export async function controlPlaneFrom(
  flags: PlaceFlags,
  reference?: string,
): Promise<ControlClient> {
  const connection = connectionFrom(flags, process.env, "control");
  const region = await regionFrom(
    {
      region: flags.region,
      reference,
      profile: flags.profile,
      otherwise: connection.credentials === undefined ? undefined : EMULATOR_REGION,
    },
    process.env,
  );
  return controlClient({ ...connection, region });
}

const EMULATOR_REGION = "us-east-1";
