import type { ServeSettings } from "../../bridge/configured/serve-settings.ts";
import { createAccessLog } from "./access-log-writer.ts";
import {
  resolveConfigFile,
  createTrustCheck,
  type ConfigFlags,
} from "../shared/flags/config-flags.ts";
import type { UpdatesFlags } from "../updates-option.ts";

/** Where and to whom agents are served, as flags say it; the configuration says the rest. */
export interface ServingFlags extends ConfigFlags, UpdatesFlags {
  readonly host?: string;
  readonly port?: number;
  /** A file, or among the notes. */
  readonly accessLog?: true | string;
}

export interface ServingOptions extends UpdatesFlags {
  readonly serving?: ServeSettings;
  readonly host?: string;
  readonly port?: number;
  readonly accessLog?: (line: string) => void;
}

export async function readServing(
  flags: ServingFlags,
  note: (line: string) => void,
): Promise<ServingOptions> {
  const { host, port, accessLog, updates } = flags;
  const file = resolveConfigFile(flags);
  const serving = file === undefined ? {} : { serving: await loadServeSettings(file, flags) };
  return {
    ...serving,
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(updates !== undefined && { updates }),
    ...(accessLog !== undefined && { accessLog: createAccessLog(accessLog, note) }),
  };
}

async function loadServeSettings(file: string, flags: ConfigFlags): Promise<ServeSettings> {
  const { readServeSettings } = await import("../../bridge/configured/serve-settings.ts");
  return readServeSettings({
    file,
    environment: process.env,
    isTrusted: createTrustCheck(file, flags),
  });
}
