import type { Signature } from "../../../domain/events/signature.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import {
  isReceipt,
  readSignature,
  createSignedContent,
  type LastReceipt,
  type Receipt,
} from "../../../domain/events/receipt.ts";
import type { SessionState } from "../../session-state.ts";
import { fitsToolCall } from "../../tools/match-receipt.ts";

/** Whether a signature fits the content and was made with a key of this user. */
export type VerifySignature = (
  content: unknown,
  signature: Pick<Signature, "keyId" | "mac">,
) => boolean;

/**
 * Verifies a log while reading: each receipt is signed by this user's bridge, none is missing, and each fits the tool
 * call in the log.
 */
export interface ReceiptVerifier {
  /** Takes events in log order; `before` is the state before the event. */
  check(envelope: Envelope, before: VerifiedState): void;
  /**
   * The `seq` of the first event since the last `approvals.invalidated` which does not verify. Undefined if all verify.
   */
  readonly invalidSeq: number | undefined;
}

type VerifiedState = Pick<SessionState, "lastReceipt" | "tools">;

export function createReceiptVerifier(verify: VerifySignature): ReceiptVerifier {
  let seq: number | undefined;
  return {
    check(envelope, { lastReceipt, tools }) {
      const { event } = envelope;
      if (event.type === "approvals.invalidated") {
        seq = undefined;
        return;
      }
      const isSigned = !isReceipt(event) || isValidReceipt(envelope, event, lastReceipt, verify);
      if (!isSigned || !fitsToolCall(event, tools)) seq ??= envelope.seq;
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
