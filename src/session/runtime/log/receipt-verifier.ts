import type { Signature } from "../../../domain/events/session-event.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import {
  isReceipt,
  readSignature,
  createSignedContent,
  type LastReceipt,
  type Receipt,
} from "../../../domain/events/receipt.ts";

/** Whether a signature is of this content, and made with a key of this user's. */
export type VerifySignature = (
  content: unknown,
  signature: Pick<Signature, "keyId" | "mac">,
) => boolean;

/** Looks at a log while it is read: whether what people said in it was said to this user's bridge, and all of it is there. */
export interface ReceiptVerifier {
  /** In the order of the log; `last` is the receipt before. */
  check(envelope: Envelope, last: LastReceipt): void;
  /** The first receipt that proves nothing, of those that no doubt was written down about yet. */
  readonly invalidSeq: number | undefined;
}

export function createReceiptVerifier(verify: VerifySignature): ReceiptVerifier {
  let seq: number | undefined;
  return {
    check(envelope, last) {
      const { event } = envelope;
      if (event.type === "approvals.invalidated") seq = undefined;
      else if (isReceipt(event) && !isValidReceipt(envelope, event, last, verify))
        seq ??= envelope.seq;
    },
    get invalidSeq() {
      return seq;
    },
  };
}

function isValidReceipt(
  envelope: Envelope,
  event: Receipt,
  last: LastReceipt,
  verify: VerifySignature,
): boolean {
  const signature = readSignature(event) ?? undefined;
  if (signature?.number !== last.number + 1 || signature.before !== last.mac) return false;
  return verify(createSignedContent({ ...envelope, event }, signature), signature);
}
