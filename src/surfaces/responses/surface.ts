import type { EventStreamOptions } from "../../http/event-stream.ts";
import { randomHex } from "../../platform/random.ts";
import { keyUses, type KeyUses } from "./key-uses.ts";
import { waitingCallers, type WaitingCallers } from "./waiting-callers.ts";
import { settingsOf, type ResponsesOptions, type ResponsesSettings } from "./responses-options.ts";

/** What every route of this surface works with. */
export interface Surface extends Omit<ResponsesOptions, "settings" | "newSessionId"> {
  readonly settings: ResponsesSettings;
  readonly newSessionId: () => string;
  readonly streaming: EventStreamOptions;
  readonly waiting: WaitingCallers;
  readonly keyUses: KeyUses;
}

export function surfaceOf(options: ResponsesOptions): Surface {
  const settings = settingsOf(options);
  const { heartbeatMs, stalledMs } = settings;
  return {
    ...options,
    settings,
    // AgentCore wants 33 characters, and this is the name of its conversation too.
    newSessionId: options.newSessionId ?? (() => `ses_${randomHex(16)}`),
    waiting: waitingCallers(),
    keyUses: keyUses(),
    streaming: { clock: options.clock, heartbeatMs, stalledMs },
  };
}
