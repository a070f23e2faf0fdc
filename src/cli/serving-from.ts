import type { Serving } from "../bridge/config/configured-serving.ts";
import { accessLogTo } from "./access-log-to.ts";
import { configFrom, trustIn, type ConfigFlags } from "./agents-from.ts";
import type { UpdatesFlags } from "./updates-option.ts";

/** Where and to whom agents are served, as flags say it; the configuration says the rest. */
export interface ServingFlags extends ConfigFlags, UpdatesFlags {
  readonly host?: string;
  readonly port?: number;
  /** A file, or among the notes. */
  readonly accessLog?: true | string;
}

export interface ServingPlace extends UpdatesFlags {
  readonly serving?: Serving;
  readonly host?: string;
  readonly port?: number;
  readonly accessLog?: (line: string) => void;
}

export async function servingFrom(
  flags: ServingFlags,
  note: (line: string) => void,
): Promise<ServingPlace> {
  const { host, port, accessLog, updates } = flags;
  const file = configFrom(flags);
  const serving = file === undefined ? {} : { serving: await servingIn(file, flags) };
  return {
    ...serving,
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(updates !== undefined && { updates }),
    ...(accessLog !== undefined && { accessLog: accessLogTo(accessLog, note) }),
  };
}

async function servingIn(file: string, flags: ConfigFlags): Promise<Serving> {
  const { configuredServing } = await import("../bridge/config/configured-serving.ts");
  return configuredServing({ file, environment: process.env, isTrusted: trustIn(file, flags) });
}
