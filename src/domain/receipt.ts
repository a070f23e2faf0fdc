import type { AgentEvent, Signature } from "./agent-event.ts";
import type { Draft, Envelope } from "./envelope.ts";
import { isObject } from "./json.ts";

/** Events that say who let what run, and what came of it: they are signed, so that a log shows when somebody changed them. */
export type Receipt = Extract<AgentEvent, { readonly signature?: Signature }>;

const RECEIPTS: { readonly [Type in Receipt["type"]]: true } = {
  "policy.decided": true,
  "tool.finished": true,
  "approval.requested": true,
  "approval.voted": true,
  "approval.resolved": true,
  "grant.given": true,
  "grant.revoked": true,
  "approvals.doubted": true,
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
  /** The `mac` of the first receipt: identifies the chain, and cannot be chosen by anybody without a key. */
  readonly first: string | null;
}

export const NO_RECEIPT: LastReceipt = { number: 0, mac: null, first: null };

export function lastReceipt(before: LastReceipt, event: AgentEvent): LastReceipt {
  const { number, mac } = isReceipt(event) ? (signatureOf(event) ?? {}) : {};
  if (number === undefined || mac === undefined) return before;
  return { number, mac, first: before.first ?? mac };
}

/** A log may have been changed: null is what no program of ours writes. Undefined where it is not signed. */
export function signatureOf({ signature }: Receipt): Signature | null | undefined {
  if (signature === undefined) return undefined;
  const given: unknown = signature;
  if (!isObject(given)) return null;
  const { keyId, mac, number, before } = given;
  if (typeof keyId !== "string" || typeof mac !== "string") return null;
  if (number === undefined && before === undefined) return { keyId, mac };
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 1) return null;
  return typeof before === "string" || before === null ? { keyId, mac, number, before } : null;
}

type Place = Pick<Envelope, "sessionId" | "seq"> &
  Pick<Draft, "at" | "turnId" | "actor"> & { readonly event: Receipt };
