import { needsSync } from "../domain/event-manifest.ts";
import type { JsonValue } from "../domain/json.ts";
import { lastReceipt } from "../domain/receipt.ts";
import type { Entry, Lease, Store } from "../store/store.ts";
import type { Decided } from "./decide.ts";
import type { ReceiptHeads } from "./receipt-heads.ts";
import { sessionFields } from "./session-fields.ts";
import { signReceipts, type Sign } from "./sign-receipts.ts";
import type { SessionState } from "./state.ts";

export interface WriteOptions {
  readonly store: Store;
  readonly lease: Lease;
  readonly sign?: Sign;
  /** Where the last receipt is recorded once it is in the log. */
  readonly heads?: ReceiptHeads;
  /** Of the log. */
  readonly incarnation: string;
  /** What goes in with the events. */
  readonly beside: Pick<Entry, "command" | "wakeAt">;
}

export type Written =
  | { readonly status: "written"; readonly state: SessionState }
  /** The command was taken before; nothing was written. */
  | { readonly status: "repeated"; readonly reply: JsonValue };

/** Appends what was decided to the log: its receipts signed, and on the disk where something follows from it. */
export async function writeDown(
  { seq, receipts, isTitled }: SessionState,
  { events, state: next }: Decided,
  { store, lease, sign, heads, incarnation, beside }: WriteOptions,
): Promise<Written> {
  const place = { sessionId: lease.sessionId, seq, receipts };
  const signed = signReceipts(events, place, sign);
  const sync = events.some(({ event }) => needsSync(event));
  const index = sessionFields(events, next, isTitled);
  const appended = await store.append(lease, seq, { events: signed, sync, index, ...beside });
  if (appended.status === "repeated") return appended;
  // What was decided knows no signatures.
  const last = signed.reduce((before, { event }) => lastReceipt(before, event), receipts);
  if (last !== receipts) heads?.save(incarnation, last);
  return { status: "written", state: { ...next, receipts: last } };
}
