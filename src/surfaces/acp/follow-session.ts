import type { Envelope } from "../../domain/envelope.ts";
import { updateEncoder } from "../../wire/acp/update-encoder.ts";
import type { AcpOutput, UpdateOptions } from "../../wire/acp/update-state.ts";
import type { ClientLink } from "./client-link.ts";

interface Following {
  readonly link: ClientLink;
  readonly encoding: UpdateOptions;
  readonly signal: AbortSignal;
  /** Told of each event before what it comes to is delivered. */
  readonly seen: (envelope: Envelope) => void;
  readonly deliver: (output: AcpOutput) => void;
}

/**
 * Tells a client of a session, from the beginning and from one subscription, until the signal. Rejects when that ends
 * early. What a slow client has no room for stays in the log, and holds up nobody else.
 */
export async function followSession(following: Following): Promise<void> {
  const { link, encoding, signal, deliver } = following;
  const encoder = updateEncoder(encoding);
  const state = encoder.initial();
  for await (const batch of link.sessions.subscribe(encoding.sessionId, undefined, signal)) {
    for (const envelope of batch.events) {
      if (signal.aborted) return;
      following.seen(envelope);
      encoder.step(state, envelope, deliver);
      if (!link.hasRoom()) await link.room();
    }
  }
  if (!signal.aborted) throw new Error("The session's events ended");
}
