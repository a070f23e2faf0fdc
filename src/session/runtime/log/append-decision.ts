import { needsSync } from "../../../domain/events/event-manifest.ts";
import type { JsonValue } from "../../../data/json.ts";
import { evolveLastReceipt } from "../../../domain/events/receipt.ts";
import type { Lease, LogEntry, LogStore } from "../../../store/log-store.ts";
import type { DecisionResult } from "../../decide.ts";
import type { ReceiptHeads } from "./receipt-head.ts";
import { collectSessionFields } from "./session-fields.ts";
import { signReceipts, type SignContent } from "./sign-receipts.ts";
import type { SessionState } from "../../session-state.ts";

export interface AppendOptions {
  readonly store: LogStore;
  readonly lease: Lease;
  readonly sign?: SignContent;
  /** Where the last receipt is recorded once it is in the log. */
  readonly heads?: ReceiptHeads;
  /** Of the log. */
  readonly incarnation: string;
  /** What goes in with the events. */
  readonly commandFields: Pick<LogEntry, "command" | "wakeAt">;
}

export type AppendResult =
  | { readonly status: "written"; readonly state: SessionState }
  /** The command was taken before; nothing was written. */
  | { readonly status: "repeated"; readonly reply: JsonValue };

/** Appends what was decided to the log: its receipts signed, and on the disk where something follows from it. */
export async function appendDecision(
  { seq, lastReceipt: receipts, hasTitle }: SessionState,
  { events, state: next }: DecisionResult,
  { store, lease, sign, heads, incarnation, commandFields }: AppendOptions,
): Promise<AppendResult> {
  const position = { sessionId: lease.sessionId, seq, receipts };
  const signed = signReceipts(events, position, sign);
  const sync = events.some(({ event }) => needsSync(event));
  const index = collectSessionFields(events, next, hasTitle);
  const appended = await store.append(lease, seq, {
    events: signed,
    sync,
    index,
    ...commandFields,
  });
  if (appended.status === "repeated") return appended;
  // What was decided knows no signatures.
  const last = signed.reduce((previous, { event }) => evolveLastReceipt(previous, event), receipts);
  if (last !== receipts) heads?.save(incarnation, last);
  return { status: "written", state: { ...next, lastReceipt: last } };
}
