import type { LastReceipt } from "../../../domain/events/receipt.ts";

/** The last receipt of a log, as recorded outside the log. */
export type ReceiptHead = Pick<LastReceipt, "number" | "mac">;

/** The log of a session, and its chain of receipts. */
export interface ReceiptChain {
  readonly incarnation: string;
  /** The `mac` of the first receipt. Null if the log has none. */
  readonly firstMac: string | null;
}

/**
 * Records the last receipt of every log outside the data directory, so a truncated log is detected. A head is saved
 * after its receipts are synced: a process killed in between leaves a head behind the log, never ahead.
 */
export interface ReceiptHeads {
  /** Undefined if no head is recorded for the chain. */
  readonly read: (chain: ReceiptChain) => ReceiptHead | undefined;
  /** Keeps the head with the highest number. */
  readonly save: (incarnation: string, last: LastReceipt) => void;
}

/** Number of receipts missing after `last`. */
export function countMissingReceipts(last: LastReceipt, head: ReceiptHead | undefined): number {
  if (head === undefined || last.number > head.number) return 0;
  // A copy of the log that continued separately has another receipt under the same number.
  if (last.number === head.number) return last.mac === head.mac ? 0 : 1;
  return head.number - last.number;
}
