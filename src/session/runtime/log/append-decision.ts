import type { JsonValue } from "../../../data/json.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { deriveTitle } from "../../../domain/events/derive-title.ts";
import type { Draft } from "../../../domain/events/envelope.ts";
import { needsSync } from "../../../domain/events/event-manifest.ts";
import {
  createSignedContent,
  evolveLastReceipt,
  isReceipt,
  type LastReceipt,
} from "../../../domain/events/receipt.ts";
import type { SessionEvent } from "../../../domain/events/session-event.ts";
import type { Signature } from "../../../domain/events/signature.ts";
import type { Lease, LogEntry, LogStore } from "../../../store/log-store.ts";
import type { SessionFields } from "../../../store/session-index.ts";
import type { DecisionResult } from "../../decide.ts";
import type { SessionState } from "../../session-state.ts";
import { hasOpenWorkerEffects } from "../../workers/workers-state.ts";
import type { ReceiptHeads } from "./receipt-head.ts";

/** Signs some content. */
export type SignContent = (content: unknown) => Pick<Signature, "keyId" | "mac">;

export interface AppendOptions {
  readonly store: LogStore;
  readonly lease: Lease;
  readonly sign?: SignContent;
  /** Records the last receipt once it is in the log. */
  readonly heads?: ReceiptHeads;
  /** Incarnation of the log. */
  readonly incarnation: string;
  /** Stored with the events. */
  readonly commandFields: Pick<LogEntry, "command" | "wakeAt">;
}

export type AppendResult =
  | { readonly status: "written"; readonly state: SessionState }
  /** The command was accepted before; nothing was written. */
  | { readonly status: "repeated"; readonly reply: JsonValue };

/** Appends a decision to the log, with signed receipts. Synced to disk if an effect follows from one of the events. */
export async function appendDecision(
  { seq, lastReceipt: receipts, hasTitle }: SessionState,
  { events, state: next }: DecisionResult,
  { store, lease, sign, heads, incarnation, commandFields }: AppendOptions,
): Promise<AppendResult> {
  const position = { sessionId: lease.sessionId, seq, receipts };
  const signed = signReceipts(events, position, sign);
  const index = collectSessionFields(events, next, hasTitle);
  const sync = events.some(({ event }) => needsSync(event));
  const appended = await store.append(lease, seq, {
    events: signed,
    sync,
    index,
    ...commandFields,
  });
  if (appended.status === "repeated") return appended;
  // The decided state lacks the signatures.
  const last = signed.reduce((previous, { event }) => evolveLastReceipt(previous, event), receipts);
  if (last !== receipts) heads?.save(incarnation, last);
  return { status: "written", state: { ...next, lastReceipt: last } };
}

/** Position in the log before the events. */
interface ReceiptPosition {
  readonly sessionId: string;
  readonly seq: number;
  readonly receipts: LastReceipt;
}

/** Signs the receipts among the events, each linked to the previous one. */
function signReceipts(
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

/** Returns the fields of the session list after these events. */
export function collectSessionFields(
  events: readonly Draft[],
  { turn, approvals, tools, budgets, workers }: SessionState,
  isTitled = true,
): SessionFields {
  // Processes of a cancelled turn may still run, so the next owner must resume the session to terminate them.
  // A charge of a finished turn is repeated after a restart.
  // A running worker continues after a restart, too.
  const isIdle =
    turn.current === null &&
    tools.processes.length === 0 &&
    budgets.charge === null &&
    !hasOpenWorkerEffects(workers);
  const isWaiting = approvals.pending.length > 0 || (turn.current?.pause ?? null) !== null;
  const state = isWaiting ? "waiting" : isIdle ? "idle" : "running";
  const fields = events.map(({ event }) => readEventFields(event));
  return Object.assign({ state }, isTitled ? {} : deriveFirstTitle(events), ...fields);
}

/** Derives a title from the first prompt; an explicit title replaces it. */
function deriveFirstTitle(events: readonly Draft[]): SessionFields {
  for (const { event } of events) {
    const title = event.type === "prompt.accepted" ? deriveTitle(event.content) : undefined;
    if (title !== undefined) return { title };
  }
  return {};
}

function readEventFields(event: SessionEvent): SessionFields {
  if (event.type === "session.title_changed") return { title: event.title };
  if (event.type === "session.folders_changed") return { folders: event.folders };
  if (event.type !== "session.opened") return {};
  const { agent, principal, title, workingDirectory, label, lineage } = event;
  return {
    agent,
    principal,
    ...omitUndefined({ title, workingDirectory, label, lineage }),
  };
}
