import type { Envelope } from "../domain/envelope.ts";
import { isReceipt, signedContent, type Receipt } from "../domain/receipt.ts";
import type { SigningKeys, SignatureCheck } from "./signing-keys.ts";

/** One receipt of a log: who let what run, or did not, and whether it is as it was written. */
export interface AuditEntry {
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly signature: SignatureCheck | "unsigned";
  /** Whoever brought it about; null for the session itself. */
  readonly principal: string | null;
  readonly receipt: Receipt;
}

/** Undefined for an event that is no receipt. */
export function auditEntry(envelope: Envelope, keys: SigningKeys): AuditEntry | undefined {
  const { seq, at, actor, event } = envelope;
  if (!isReceipt(event)) return undefined;
  const principal = actor?.principal ?? null;
  const { signature } = event;
  const checked =
    signature === undefined ? "unsigned" : checkedBy(keys, envelope, { ...event, signature });
  return { seq, at, signature: checked, principal, receipt: event };
}

/** A log may have been changed into what no program of ours writes. */
function checkedBy(keys: SigningKeys, envelope: Envelope, event: Receipt): SignatureCheck {
  const { keyId, mac } = Object(event.signature);
  if (typeof keyId !== "string" || typeof mac !== "string") return "forged";
  return keys.check(signedContent({ ...envelope, event }), { keyId, mac });
}
