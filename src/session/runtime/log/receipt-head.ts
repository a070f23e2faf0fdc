import type { LastReceipt } from "../../../domain/events/receipt.ts";

/** The last receipt of a log, as it is recorded outside of that log. */
export type ReceiptHead = Pick<LastReceipt, "number" | "mac">;

/** The log of one session, and the chain of receipts in it. */
export interface ReceiptChain {
  readonly incarnation: string;
  /** The `mac` of the first receipt; null if the log has no receipt. */
  readonly firstMac: string | null;
}

/**
 * Records the last receipt of every log in a place outside of the data directory, so that a log whose end was cut off is
 * noticed. A head is saved after its receipts are on the disk: a process that is killed between the two leaves a head
 * behind the log, never ahead of it.
 */
export interface ReceiptHeads {
  /** Undefined if nothing is recorded about the chain. */
  readonly read: (chain: ReceiptChain) => ReceiptHead | undefined;
  /** Keeps the head with the highest number. */
  readonly save: (incarnation: string, last: LastReceipt) => void;
}

/** The number of receipts that are missing behind `last`. */
export function countMissingReceipts(last: LastReceipt, head: ReceiptHead | undefined): number {
  if (head === undefined || last.number > head.number) return 0;
  // A copy of the log that continued separately has another receipt under the same number.
  if (last.number === head.number) return last.mac === head.mac ? 0 : 1;
  return head.number - last.number;
}
