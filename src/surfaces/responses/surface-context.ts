import type { ResponsesSettings } from "../../domain/responses-settings.ts";
import type { EventStreamOptions } from "../../http/routing/event-stream.ts";
import { randomHex } from "../../platform/random.ts";
import { createIdempotencyKeys, type IdempotencyKeys } from "./prompt/idempotency-keys.ts";
import { createWaitingCallers, type WaitingCallers } from "./turn/waiting-callers.ts";
import { resolveSettings, type ResponsesOptions } from "./responses-options.ts";

/** The dependencies shared by all routes of this surface. */
export interface SurfaceContext extends Omit<ResponsesOptions, "settings" | "newSessionId"> {
  readonly settings: ResponsesSettings;
  readonly newSessionId: () => string;
  readonly streaming: EventStreamOptions;
  readonly waitingCallers: WaitingCallers;
  readonly idempotencyKeys: IdempotencyKeys;
}

export function createSurfaceContext(options: ResponsesOptions): SurfaceContext {
  const settings = resolveSettings(options);
  const { heartbeatMs, stalledMs } = settings;
  return {
    ...options,
    settings,
    // At least 33 characters, as AgentCore requires: the id is also the id of the upstream session.
    newSessionId: options.newSessionId ?? (() => `ses_${randomHex(16)}`),
    waitingCallers: createWaitingCallers(),
    idempotencyKeys: createIdempotencyKeys(),
    streaming: { clock: options.clock, heartbeatMs, stalledMs },
  };
}
