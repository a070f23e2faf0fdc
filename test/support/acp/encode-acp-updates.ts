import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import { runCodec } from "../../../src/domain/codec.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import { STOCK_CLIENT, type ClientProfile } from "../../../src/wire/acp/decode/client-profile.ts";
import type { AcpSessionUpdate } from "../../../src/wire/acp/encode/acp-session-update.ts";
import { createUpdateEncoder } from "../../../src/wire/acp/encode/update-encoder.ts";
import type { AcpOutput, UpdateOptions } from "../../../src/wire/acp/encode/update-state.ts";

/** The profile of a bridge host. */
export const HOST_PROFILE: ClientProfile = { ...STOCK_CLIENT, isBridgeHost: true };

/** Encodes events, a second apart, for a client. */
export function encodeAcpOutputs(
  events: readonly SessionEvent[],
  profile: ClientProfile,
  options: Partial<UpdateOptions> = {},
): AcpOutput[] {
  const log = events.map((event, at): Envelope => {
    const place = { sessionId: "s", seq: at + 1, at: at * 1000, turnId: "turn_1" };
    return { ...place, visibility: "public", event };
  });
  const place = { sessionId: "s", clientId: "me", upTo: 0, history: "shown" } as const;
  return runCodec(createUpdateEncoder({ ...place, getProfile: () => profile, ...options }), log);
}

/** Only the updates among the encoded outputs. */
export function encodeAcpUpdates(
  events: readonly SessionEvent[],
  profile: ClientProfile,
  options: Partial<UpdateOptions> = {},
): AcpSessionUpdate[] {
  return encodeAcpOutputs(events, profile, options).flatMap((output) =>
    output.type === "update" ? [output.update] : [],
  );
}
