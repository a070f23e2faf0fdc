import type { AgentEvent } from "../../src/domain/agent-event.ts";
import { runCodec } from "../../src/domain/codec.ts";
import type { Envelope } from "../../src/domain/envelope.ts";
import { STOCK_CLIENT, type ClientProfile } from "../../src/wire/acp/client-profile.ts";
import type { SessionUpdate } from "../../src/wire/acp/session-update.ts";
import { updateEncoder } from "../../src/wire/acp/update-encoder.ts";
import type { AcpOutput, UpdateOptions } from "../../src/wire/acp/update-state.ts";

/** A client that knows the bridge. */
export const HOST: ClientProfile = { ...STOCK_CLIENT, isBridgeHost: true };

/** What events, a second apart, come to for a client. */
export function acpOutputs(
  events: readonly AgentEvent[],
  profile: ClientProfile,
  options: Partial<UpdateOptions> = {},
): AcpOutput[] {
  const log = events.map((event, at): Envelope => {
    const place = { sessionId: "s", seq: at + 1, at: at * 1000, turnId: "turn_1" };
    return { ...place, visibility: "public", event };
  });
  const place = { sessionId: "s", clientId: "me", upTo: 0, history: "shown" } as const;
  return runCodec(updateEncoder({ ...place, profile: () => profile, ...options }), log);
}

/** The updates among them. */
export function acpUpdates(
  events: readonly AgentEvent[],
  profile: ClientProfile,
  options: Partial<UpdateOptions> = {},
): SessionUpdate[] {
  return acpOutputs(events, profile, options).flatMap((output) =>
    output.type === "update" ? [output.update] : [],
  );
}
