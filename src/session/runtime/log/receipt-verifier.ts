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

/** Whether a signature is of this content, and made with a key of this user's. */
export type VerifySignature = (
  content: unknown,
  signature: Pick<Signature, "keyId" | "mac">,
) => boolean;

/**
 * Verifies a log while it is read: each receipt is signed by this user's bridge, none is missing, and each is about the tool
 * call that the log has.
 */
export interface ReceiptVerifier {
  /** Takes the events in the order of the log; `before` is the state that the event is folded into. */
  check(envelope: Envelope, before: VerifiedState): void;
  /** The `seq` of the first event that does not verify, counted from the last `approvals.invalidated` on. */
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
