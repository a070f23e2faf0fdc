import type { SessionEvent } from "./session-event.ts";
import type { Signature } from "./signature.ts";
import type { Envelope } from "./envelope.ts";
import { isObject } from "../../data/json.ts";

/**
 * Signed events: approvals, policy decisions, tool runs and their results. The signatures reveal later changes of a
 * log.
 */
export type Receipt = Extract<SessionEvent, { readonly signature?: Signature }>;

const RECEIPTS: { readonly [Type in Receipt["type"]]: true } = {
  "policy.decided": true,
  "tool.started": true,
  "tool.finished": true,
  "approval.requested": true,
  "approval.voted": true,
  "approval.resolved": true,
  "grant.added": true,
  "grant.revoked": true,
  "approvals.invalidated": true,
};

export function isReceipt(event: SessionEvent): event is Receipt {
  return Object.hasOwn(RECEIPTS, event.type);
}

/** The signed content: the event with all fields of its envelope, and the link to the previous receipt. */
export function createSignedContent(
  position: ReceiptPosition,
  { number, before }: ReceiptLink,
): unknown {
  const { sessionId, seq, at, turnId = null, actor = null, cause = null, visibility } = position;
  const { signature: _, ...event } = position.event;
  const link = number === undefined ? {} : { number, before };
  return { sessionId, seq, at, turnId, actor, cause, visibility, event, ...link };
}

type ReceiptLink = Pick<Signature, "number" | "before">;

/**
 * The last signed receipt of a session. The next receipt includes its `mac`, so removing one from the middle breaks the
 * chain.
 */
export interface LastReceipt {
  readonly number: number;
  readonly mac: string | null;
  /** The `mac` of the first receipt. Identifies the chain; a value cannot be forged without the key. */
  readonly first: string | null;
}

export const NO_RECEIPT: LastReceipt = { number: 0, mac: null, first: null };

export function evolveLastReceipt(previous: LastReceipt, event: SessionEvent): LastReceipt {
  const { number, mac } = isReceipt(event) ? (readSignature(event) ?? {}) : {};
  if (number === undefined || mac === undefined) return previous;
  return { number, mac, first: previous.first ?? mac };
}

/**
 * Reads a signature. Undefined if the event is unsigned. Null if malformed: Spanline never writes such a value, so the
 * log was changed.
 */
export function readSignature({ signature }: Receipt): Signature | null | undefined {
  if (signature === undefined) return undefined;
  const value: unknown = signature;
  if (!isObject(value)) return null;
  const { keyId, mac, number, before } = value;
  if (typeof keyId !== "string" || typeof mac !== "string") return null;
  if (number === undefined && before === undefined) return { keyId, mac };
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 1) return null;
  return typeof before === "string" || before === null ? { keyId, mac, number, before } : null;
}

type ReceiptPosition = Omit<Envelope, "event"> & { readonly event: Receipt };
