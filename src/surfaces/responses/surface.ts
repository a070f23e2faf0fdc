import type { EventStreamOptions } from "../../http/event-stream.ts";
import { randomBytes } from "node:crypto";
import { waitingCallers, type WaitingCallers } from "./waiting-callers.ts";
import { settingsOf, type ResponsesOptions, type ResponsesSettings } from "./responses-options.ts";

/** What every route of this surface works with. */
export interface Surface extends Omit<ResponsesOptions, "settings" | "newSessionId"> {
  readonly settings: ResponsesSettings;
  readonly newSessionId: () => string;
  readonly streaming: EventStreamOptions;
  readonly waiting: WaitingCallers;
}

export function surfaceOf(options: ResponsesOptions): Surface {
  const settings = settingsOf(options);
  const { heartbeatMs, stalledMs } = settings;
  return {
    ...options,
    settings,
    // AgentCore wants 33 characters, and this is the name of its conversation too.
    newSessionId: options.newSessionId ?? (() => `ses_${randomBytes(16).toString("hex")}`),
    waiting: waitingCallers(),
    streaming: { clock: options.clock, heartbeatMs, stalledMs },
  };
}
