import { silent } from "../../../domain/event-rules.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type { EventOf } from "../../../domain/events/session-event.ts";
import { isObject, toJsonText } from "../../../data/json.ts";
import type { TextItem, ThoughtItem } from "../session-view.ts";
import type { ViewDraft } from "../view-draft.ts";
import type { ViewRules } from "../view-rules.ts";
import { noteNewerEvent } from "./newer-event.ts";

/** Events of the slice `turn` about the output of the agent. */
export type MessageEvent = EventOf<
  | "message.started"
  | "message.finished"
  | "message.replaced"
  | "text.delta"
  | "text.finished"
  | "thought.delta"
  | "thought.finished"
  | "hook.fired"
  | "diagnostic.raised"
  | "provider.unknown"
>;

export const MESSAGE_RULES: ViewRules<MessageEvent> = {
  "message.started": silent("the thread shows the blocks of the message"),
  "message.finished": (draft, { messageId, interrupted }, { at }) => {
    const prefix = `${messageId}:`;
    const { streaming } = draft.view.facts;
    const keys = streaming.filter((key) => key.startsWith(prefix));
    for (const key of keys) finishMessage(draft, key, at, interrupted);
  },
  "message.replaced": replaceMessage,
  "text.delta": (draft, event, envelope) => {
    const item = findText(draft, event, envelope);
    draft.addItem({ ...item, text: item.text + event.text, forkSeq: envelope.seq });
  },
  "text.finished": (draft, event, envelope) => {
    const item = findText(draft, event, envelope);
    const interrupted = event.interrupted === true;
    stopStreaming(draft, item.key);
    const { text } = event;
    draft.addItem({ ...item, text, isStreaming: false, interrupted, forkSeq: envelope.seq });
  },
  "thought.delta": (draft, event, envelope) => {
    const item = findThought(draft, event, envelope);
    draft.addItem({ ...item, text: item.text + event.text });
  },
  "thought.finished": (draft, event, envelope) => {
    const item = findThought(draft, event, envelope);
    stopStreaming(draft, item.key);
    const durationMs = item.isStreaming ? envelope.at - item.at : item.durationMs;
    draft.addItem({ ...item, text: event.text, isStreaming: false, durationMs });
  },
  "hook.fired": (draft, { name, stage, decision, reason }, envelope) => {
    if (decision === undefined || decision === "allow") return;
    draft.addNotice(envelope, "info", `Hook ${name} at ${stage}: ${decision}`, reason);
  },
  "diagnostic.raised": (draft, { diagnostic }, envelope) => {
    const { code, message, count } = diagnostic;
    const details = count === undefined ? code : `${code}, ${count} times`;
    draft.addNotice(envelope, "warning", message, details);
  },
  "provider.unknown": (draft, { what, name, raw }, envelope) => {
    if (isNewerEvent(raw)) return noteNewerEvent(draft, name, envelope);
    const details = toJsonText(raw).slice(0, MAX_RAW_LENGTH);
    draft.addNotice(envelope, "info", `Unknown ${what} of the provider: ${name}`, details);
  },
};

const MAX_RAW_LENGTH = 2000;

/** Whether the unknown value is an event of a newer bridge: `readStoredEvent` keeps its stored form. */
function isNewerEvent(raw: unknown): boolean {
  return isObject(raw) && typeof raw["version"] === "number" && isObject(raw["event"]);
}

/** Ends the streaming of a text or a thought. Does nothing if the item has ended. */
export function finishMessage(
  draft: ViewDraft,
  key: string,
  at: number,
  interrupted?: boolean,
): void {
  stopStreaming(draft, key);
  const text = draft.findItem("text", key);
  if (text?.isStreaming === true)
    draft.replaceItem({ ...text, isStreaming: false, interrupted: interrupted ?? false });
  const thought = draft.findItem("thought", key);
  if (thought?.isStreaming === true)
    draft.replaceItem({ ...thought, isStreaming: false, durationMs: at - thought.at });
}

interface BlockPosition {
  readonly messageId: string;
  readonly block: number;
}

function findText(draft: ViewDraft, position: BlockPosition, envelope: Envelope): TextItem {
  const key = toBlockKey(position);
  const known = draft.findItem("text", key);
  if (known !== undefined) return known;
  startStreaming(draft, key);
  const { at, seq } = envelope;
  const { messageId } = position;
  const item = { kind: "text", key, at, seq, forkSeq: seq, messageId, text: "" } as const;
  return { ...item, isStreaming: true, interrupted: false };
}

function findThought(draft: ViewDraft, position: BlockPosition, envelope: Envelope): ThoughtItem {
  const key = toBlockKey(position);
  const known = draft.findItem("thought", key);
  if (known !== undefined) return known;
  startStreaming(draft, key);
  const { at, seq } = envelope;
  return { kind: "thought", key, at, seq, text: "", isStreaming: true, durationMs: null };
}

function toBlockKey({ messageId, block }: BlockPosition): string {
  return `${messageId}:${block}`;
}

function startStreaming(draft: ViewDraft, key: string): void {
  draft.setFacts({ streaming: [...draft.view.facts.streaming, key] });
}

function stopStreaming(draft: ViewDraft, key: string): void {
  const { streaming } = draft.view.facts;
  if (streaming.includes(key))
    draft.setFacts({ streaming: streaming.filter((other) => other !== key) });
}

/** The first text of the message gets the new text; its other texts become empty. */
function replaceMessage(
  draft: ViewDraft,
  { messageId, text }: EventOf<"message.replaced">,
  envelope: Envelope,
): void {
  const texts = listTexts(draft, messageId);
  const first = texts[0] ?? findText(draft, { messageId, block: 0 }, envelope);
  for (const item of texts) {
    stopStreaming(draft, item.key);
    draft.replaceItem({ ...item, text: "", isStreaming: false });
  }
  stopStreaming(draft, first.key);
  draft.addItem({ ...first, text, isStreaming: false, forkSeq: envelope.seq });
}

/** The result of a tool belongs to the message which has called the tool, also for a fork. */
export function extendTexts(draft: ViewDraft, messageId: string, forkSeq: number): void {
  for (const item of listTexts(draft, messageId)) draft.replaceItem({ ...item, forkSeq });
}

function listTexts({ lastTurn }: ViewDraft, messageId: string): readonly TextItem[] {
  const items = lastTurn?.items ?? [];
  return items.filter(
    (item): item is TextItem => item.kind === "text" && item.messageId === messageId,
  );
}
