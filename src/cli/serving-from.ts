import type { Serving } from "../bridge/config/configured-serving.ts";
import { configFrom, type ConfigFlags } from "./agents-from.ts";

/** Where and to whom agents are served, as flags say it; the configuration says the rest. */
export interface ServingFlags extends ConfigFlags {
  readonly host?: string;
  readonly port?: number;
  readonly accessLog?: true;
}

export interface ServingPlace {
  readonly serving?: Serving;
  readonly host?: string;
  readonly port?: number;
  readonly accessLog?: (line: string) => void;
}

export async function servingFrom(
  flags: ServingFlags,
  write: (line: string) => void,
): Promise<ServingPlace> {
  const { host, port, accessLog } = flags;
  const file = configFrom(flags);
  const serving = file === undefined ? {} : { serving: await servingIn(file) };
  return {
    ...serving,
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(accessLog === true && { accessLog: write }),
  };
}

async function servingIn(file: string): Promise<Serving> {
  const { configuredServing } = await import("../bridge/config/configured-serving.ts");
  return configuredServing({ file, environment: process.env });
}
