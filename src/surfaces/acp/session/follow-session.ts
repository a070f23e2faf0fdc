import type { Envelope } from "../../../domain/events/envelope.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import { createUpdateEncoder } from "../../../wire/acp/encode/update-encoder.ts";
import type { UpdateCursor } from "../../../wire/acp/encode/update-cursor.ts";
import type { AcpOutput, UpdateOptions } from "../../../wire/acp/encode/update-state.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { createCursorStamper, type DeliverOutput } from "./stamp-cursors.ts";

interface FollowContext {
  readonly link: ClientLink;
  readonly encoding: UpdateOptions;
  /** What the client has been told. */
  readonly from?: UpdateCursor;
  readonly signal: AbortSignal;
  /** Told of each event before and after what it comes to is delivered. */
  readonly beforeEvent: (envelope: Envelope) => void;
  readonly afterEvent: (envelope: Envelope) => void;
  readonly deliver: DeliverOutput;
}

/**
 * Tells a client of a session, from the beginning and from one subscription, until the signal. Rejects when that ends
 * early. What a slow client has no room for stays in the log, and holds up nobody else.
 */
export async function followSession(following: FollowContext): Promise<void> {
  const { link, encoding, from, signal, deliver } = following;
  const encoder = createUpdateEncoder(encoding);
  const state = encoder.initial();
  const places =
    link.hasCursors || from !== undefined ? createCursorStamper(encoding, from, deliver) : null;
  for await (const batch of link.sessions.subscribe(encoding.sessionId, undefined, signal)) {
    for (const envelope of batch.events) {
      // Many sessions may wait for the same room: whoever finds it taken waits on.
      while (!link.hasCapacity() && !signal.aborted) await link.waitForCapacity();
      if (signal.aborted) return;
      following.beforeEvent(envelope);
      if (places === null) encoder.step(state, envelope, (output) => deliver(output));
      else {
        const outputs: AcpOutput[] = [];
        encoder.step(state, envelope, (output) => outputs.push(output));
        places.deliver(outputs, { incarnation: batch.incarnation, seq: envelope.seq });
      }
      following.afterEvent(envelope);
    }
  }
  if (!signal.aborted) throw new SpanlineError("aborted", "The event stream of the session ended");
}
