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

/** What a signature is made over: the event, the place in which it stands, and which receipt came before. */
export function signedContent(place: Place, { number, before }: Link): unknown {
  const { sessionId, seq, at, turnId = null, actor = null, event } = place;
  const { signature: _, ...said } = event;
  const link = number === undefined ? {} : { number, before };
  return { sessionId, seq, at, turnId, actor, event: said, ...link };
}

type Link = Pick<Signature, "number" | "before">;

/** The last signed receipt of a session. The next one names it, so that none can be taken out from between. */
export interface LastReceipt {
  readonly number: number;
  readonly mac: string | null;
}

export const NO_RECEIPT: LastReceipt = { number: 0, mac: null };

export function lastReceipt(before: LastReceipt, event: AgentEvent): LastReceipt {
  const { number, mac } = isReceipt(event) ? (event.signature ?? {}) : {};
  return number === undefined || mac === undefined ? before : { number, mac };
}

type Place = Pick<Envelope, "sessionId" | "seq"> &
  Pick<Draft, "at" | "turnId" | "actor"> & { readonly event: Receipt };
