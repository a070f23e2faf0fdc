import type { UpdatesSetting } from "../wire/acp/decode/client-profile.ts";
import { readConfig } from "./read-config.ts";
import { parseConfigText } from "./read-document.ts";
import { readConfigFile } from "./read-config-file.ts";

/**
 * Reads `acp.updates` of a configuration. Default: `auto`, also for an invalid file, since the start of the agents
 * reports its errors.
 */
export async function readConfiguredUpdates(file: string): Promise<UpdatesSetting> {
  try {
    const { acp } = readConfig(parseConfigText(await readConfigFile(file), file));
    return acp.updates ?? "auto";
  } catch {
    return "auto";
  }
}
