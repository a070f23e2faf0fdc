import type { Signature } from "../domain/agent-event.ts";
import type { Draft } from "../domain/envelope.ts";
import { isReceipt, signedContent } from "../domain/receipt.ts";

/** Signs some content. */
export type Sign = (content: unknown) => Signature;

/** The events with their receipts signed, in the place that they are about to have in the log. */
export function signReceipts(
  drafts: readonly Draft[],
  place: { readonly sessionId: string; readonly seq: number },
  sign: Sign | undefined,
): readonly Draft[] {
  if (sign === undefined) return drafts;
  return drafts.map((draft, index) => {
    const { event } = draft;
    if (!isReceipt(event)) return draft;
    const { sessionId, seq } = place;
    const signature = sign(signedContent({ ...draft, sessionId, seq: seq + index + 1, event }));
    return { ...draft, event: { ...event, signature } };
  });
}
