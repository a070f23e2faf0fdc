import { UPDATES_SETTINGS, type UpdatesSetting } from "../wire/acp/decode/client-profile.ts";
import { checkOneOf, readOptions } from "./option-reader.ts";

/** How ACP clients are served: over standard input and output, WebSockets and HTTP. */
export interface AcpConfig {
  /** What clients are sent. Default: `auto`. */
  readonly updates?: UpdatesSetting;
}

export function readAcp(value: unknown): AcpConfig {
  const { updates } = readOptions(value ?? {}, "acp", ["updates"]);
  checkOneOf(updates, "acp.updates", UPDATES_SETTINGS);
  const setting = UPDATES_SETTINGS.find((one) => one === updates);
  return setting === undefined ? {} : { updates: setting };
}
