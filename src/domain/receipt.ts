import type { AgentEvent, Signature } from "./agent-event.ts";
import type { Draft, Envelope } from "./envelope.ts";

/** Events that say who let what run: they are signed, so that a log shows when somebody changed them. */
export type Receipt = Extract<AgentEvent, { readonly signature?: Signature }>;

const RECEIPTS: { readonly [Type in Receipt["type"]]: true } = {
  "policy.decided": true,
  "approval.voted": true,
  "approval.resolved": true,
  "grant.given": true,
  "grant.revoked": true,
};

export function isReceipt(event: AgentEvent): event is Receipt {
  return Object.hasOwn(RECEIPTS, event.type);
}

/** What a signature is made over: the event, and the place in which it stands. */
export function signedContent({ sessionId, seq, at, turnId, actor, event }: Place): unknown {
  const { signature: _, ...said } = event;
  return { sessionId, seq, at, turnId: turnId ?? null, actor: actor ?? null, event: said };
}

type Place = Pick<Envelope, "sessionId" | "seq"> &
  Pick<Draft, "at" | "turnId" | "actor"> & { readonly event: Receipt };
