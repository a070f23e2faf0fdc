import type { Signature } from "../domain/agent-event.ts";
import type { Envelope } from "../domain/envelope.ts";
import {
  isReceipt,
  signatureOf,
  signedContent,
  type LastReceipt,
  type Receipt,
} from "../domain/receipt.ts";

/** Whether a signature is of this content, and made with a key of this user's. */
export type Verify = (content: unknown, signature: Pick<Signature, "keyId" | "mac">) => boolean;

/** Looks at a log while it is read: whether what people said in it was said to this user's bridge, and all of it is there. */
export interface ReceiptDoubts {
  /** In the order of the log; `last` is the receipt before. */
  take(envelope: Envelope, last: LastReceipt): void;
  /** The first receipt that proves nothing, of those that no doubt was written down about yet. */
  readonly seq: number | undefined;
}

export function receiptDoubts(verify: Verify): ReceiptDoubts {
  let seq: number | undefined;
  return {
    take(envelope, last) {
      const { event } = envelope;
      if (event.type === "approvals.doubted") seq = undefined;
      else if (isReceipt(event) && !isProven(envelope, event, last, verify)) seq ??= envelope.seq;
    },
    get seq() {
      return seq;
    },
  };
}

function isProven(envelope: Envelope, event: Receipt, last: LastReceipt, verify: Verify): boolean {
  const signature = signatureOf(event) ?? undefined;
  if (signature?.number !== last.number + 1 || signature.before !== last.mac) return false;
  return verify(signedContent({ ...envelope, event }, signature), signature);
}
