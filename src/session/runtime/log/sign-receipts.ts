import type { Signature } from "../../../domain/events/signature.ts";
import type { Draft } from "../../../domain/events/envelope.ts";
import {
  isReceipt,
  evolveLastReceipt,
  createSignedContent,
  type LastReceipt,
} from "../../../domain/events/receipt.ts";

/** Signs some content. */
export type SignContent = (content: unknown) => Pick<Signature, "keyId" | "mac">;

/** Position in the log before the events. */
export interface ReceiptPosition {
  readonly sessionId: string;
  readonly seq: number;
  readonly receipts: LastReceipt;
}

/** Signs the receipts among the events, each linked to the previous one. */
export function signReceipts(
  drafts: readonly Draft[],
  { sessionId, seq, receipts }: ReceiptPosition,
  sign: SignContent | undefined,
): readonly Draft[] {
  if (sign === undefined) return drafts;
  let last = receipts;
  return drafts.map((draft, index) => {
    const { event } = draft;
    if (!isReceipt(event)) return draft;
    const link = { number: last.number + 1, before: last.mac };
    const position = { ...draft, sessionId, seq: seq + index + 1, event };
    const signed = {
      ...event,
      signature: { ...sign(createSignedContent(position, link)), ...link },
    };
    last = evolveLastReceipt(last, signed);
    return { ...draft, event: signed };
  });
}
