import type { Envelope } from "../../domain/envelope.ts";
import { updateEncoder } from "../../wire/acp/update-encoder.ts";
import type { UpdateCursor } from "../../wire/acp/update-cursor.ts";
import type { AcpOutput, UpdateOptions } from "../../wire/acp/update-state.ts";
import type { ClientLink } from "./client-link.ts";
import { toldPlaces, type Deliver } from "./told-places.ts";

interface Following {
  readonly link: ClientLink;
  readonly encoding: UpdateOptions;
  /** What the client has been told. */
  readonly from?: UpdateCursor;
  readonly signal: AbortSignal;
  /** Told of each event before and after what it comes to is delivered. */
  readonly before: (envelope: Envelope) => void;
  readonly after: (envelope: Envelope) => void;
  readonly deliver: Deliver;
}

/**
 * Tells a client of a session, from the beginning and from one subscription, until the signal. Rejects when that ends
 * early. What a slow client has no room for stays in the log, and holds up nobody else.
 */
export async function followSession(following: Following): Promise<void> {
  const { link, encoding, from, signal, deliver } = following;
  const encoder = updateEncoder(encoding);
  const state = encoder.initial();
  const places = link.hasCursors || from !== undefined ? toldPlaces(encoding, from, deliver) : null;
  for await (const batch of link.sessions.subscribe(encoding.sessionId, undefined, signal)) {
    for (const envelope of batch.events) {
      // Many sessions may wait for the same room: whoever finds it taken waits on.
      while (!link.hasRoom() && !signal.aborted) await link.room();
      if (signal.aborted) return;
      following.before(envelope);
      if (places === null) encoder.step(state, envelope, (output) => deliver(output));
      else {
        const outputs: AcpOutput[] = [];
        encoder.step(state, envelope, (output) => outputs.push(output));
        places.tell(outputs, { incarnation: batch.incarnation, seq: envelope.seq });
      }
      following.after(envelope);
    }
  }
  if (!signal.aborted) throw new Error("The session's events ended");
}
