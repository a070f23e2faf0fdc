import type { Emit } from "../../../domain/codec.ts";
import type { TextBuilder } from "../../../text/text-builder.ts";
import type { Role } from "../../../domain/provider/provider-event.ts";
import type { ToolCall } from "../../../domain/tools/tool-call.ts";
import type { UsageStep } from "../../../domain/provider/turn-builder.ts";
import type { Usage } from "../../../domain/usage.ts";
import type { Anomaly } from "../anomaly.ts";
import type { LogPosition } from "../response-ids.ts";
import { formatItemId } from "../items/item-id.ts";
import type { OutputItem } from "../items/output-item.ts";
import type { RecordedRequest } from "../recorded-request.ts";
import type { AssistantMessageItem } from "../items/response-item.ts";
import type { ResponseObject, WireStatus } from "../response-object.ts";
import type {
  PendingApproval,
  OpenItem,
  StreamEvent,
  StreamEventBody,
} from "./response-stream-event.ts";

/** How far one response has come. */
export interface StreamState {
  readonly recorded: RecordedRequest;
  readonly clientTools: ReadonlySet<string>;
  sequence: number;
  /** Null until its first event. */
  start: ResponseStart | null;
  turnId: string | null;
  status: WireStatus;
  /** Of the last event that was seen. */
  lastEventAt: number;
  /** Finished items by their place in the output; a place stays empty while its item is open. */
  readonly output: (OutputItem | undefined)[];
  readonly messages: Map<string, MessageState>;
  /** Pieces of text by their block. */
  readonly texts: Map<string, TextPiece>;
  /** Messages of which it is not known whether they are the answer, in their order. */
  pending: MessageDraft[];
  readonly thoughts: Map<string, ThoughtDraft>;
  readonly toolCalls: Map<string, ToolCallDraft>;
  /** Questions that wait for somebody's answer. */
  readonly approvals: Map<string, PendingApproval>;
  readonly steps: UsageStep[];
  readonly anomalies: Anomaly[];
  /** Of its own calls of the provider: a turn may be several responses. */
  usage: Usage | null;
  /** The last word about it. */
  response: ResponseObject | null;
}

export interface ResponseStart {
  readonly position: LogPosition;
  readonly createdAt: number;
  readonly promptId: string;
}

export interface MessageState {
  /** Of its first event. */
  readonly seq: number;
  readonly role: Role;
  reason: string | null;
}

/** An item of the output that is still open. */
export interface OpenOutputItem {
  readonly id: string;
  readonly index: number;
  /** What its id is made of. */
  readonly key: string;
}

export interface MessageDraft extends OpenOutputItem {
  readonly messageId: string;
  readonly pieces: TextPiece[];
  isCut: boolean;
  isWithdrawn: boolean;
  /** Known to be commentary, and closed when its last piece is. */
  phase: AssistantMessageItem["phase"] | null;
}

export interface TextPiece {
  readonly draft: MessageDraft;
  readonly contentIndex: number;
  readonly content: TextBuilder;
  /** Its block has ended, or was taken back. */
  isFinished: boolean;
  /** Its part is closed. */
  isClosed: boolean;
}

export interface ThoughtDraft extends OpenOutputItem {
  readonly content: TextBuilder;
  hasPart: boolean;
  isClosed: boolean;
}

export interface ToolCallDraft {
  readonly toolCallId: string;
  readonly seq: number;
  readonly name: string;
  readonly presentation: "function" | "mcp" | "extension" | "hidden";
  readonly inputText: TextBuilder;
  /** While its item is open. */
  item: OpenOutputItem | null;
  toolCall: ToolCall | null;
  isAnswered: boolean;
}

export function createStreamState(recorded: RecordedRequest): StreamState {
  return {
    recorded,
    clientTools: new Set(recorded.clientTools),
    sequence: 0,
    start: null,
    turnId: null,
    status: "queued",
    lastEventAt: 0,
    output: [],
    messages: new Map(),
    texts: new Map(),
    pending: [],
    thoughts: new Map(),
    toolCalls: new Map(),
    approvals: new Map(),
    steps: [],
    anomalies: [],
    usage: null,
    response: null,
  };
}

export function emitStreamEvent(
  state: StreamState,
  piece: StreamEventBody,
  emit: Emit<StreamEvent>,
): void {
  emit({ ...piece, sequence_number: state.sequence });
  state.sequence += 1;
}

export function getSessionId({ start }: StreamState): string {
  return start?.position.sessionId ?? "";
}

/** A key for a block, made of what no log drops. */
export function resolveBlockKey(
  { messages }: StreamState,
  { messageId, block }: { readonly messageId: string; readonly block: number },
): string {
  return `${messages.get(messageId)?.seq ?? 0}-${block}`;
}

type OpeningFields = Omit<OpenItem, "id" | "status" | "type">;

/** Announces an item behind all others; `fields` are the zero values of its kind. */
export function openItem(
  state: StreamState,
  { type, key, fields }: { type: OutputItem["type"]; key: string; fields: OpeningFields },
  emit: Emit<StreamEvent>,
): OpenOutputItem {
  const id = formatItemId(type, getSessionId(state), key);
  const index = state.output.length;
  state.output.push(undefined);
  const item: OpenItem = { id, type, status: "in_progress", ...fields };
  emitStreamEvent(state, { type: "response.output_item.added", output_index: index, item }, emit);
  return { id, index, key };
}

export function closeItem(
  state: StreamState,
  index: number,
  item: OutputItem,
  emit: Emit<StreamEvent>,
): void {
  state.output[index] = item;
  emitStreamEvent(state, { type: "response.output_item.done", output_index: index, item }, emit);
}
