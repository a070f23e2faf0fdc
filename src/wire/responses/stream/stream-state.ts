import type { Emit } from "../../../domain/codec.ts";
import type { TextBuilder } from "../../../text/text-builder.ts";
import type { Role } from "../../../domain/provider/provider-event.ts";
import type { ToolCall } from "../../../domain/tools/tool-call.ts";
import type { UsageStep } from "../../../domain/provider/turn-builder.ts";
import type { Usage } from "../../../domain/usage.ts";
import type { Anomaly } from "../anomaly.ts";
import type { LogPosition } from "../../../domain/events/log-position.ts";
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

/** The progress of one response. */
export interface StreamState {
  readonly recorded: RecordedRequest;
  readonly clientTools: ReadonlySet<string>;
  sequence: number;
  /** Null before the first event. */
  start: ResponseStart | null;
  turnId: string | null;
  status: WireStatus;
  /** Time of the last event. */
  lastEventAt: number;
  /** Finished items by output index. An index is undefined while its item is open. */
  readonly output: (OutputItem | undefined)[];
  readonly messages: Map<string, MessageState>;
  /** Pieces of text by block. */
  readonly texts: Map<string, TextPiece>;
  /** Messages which may still be the final answer, in order. */
  pending: MessageDraft[];
  readonly thoughts: Map<string, ThoughtDraft>;
  readonly toolCalls: Map<string, ToolCallDraft>;
  /** Approvals waiting for a decision. */
  readonly approvals: Map<string, PendingApproval>;
  readonly steps: UsageStep[];
  readonly anomalies: Anomaly[];
  /** Usage of the invocations of this response. A turn may consist of several responses. */
  usage: Usage | null;
  /** The final response. Null while the response runs. */
  response: ResponseObject | null;
}

export interface ResponseStart {
  readonly position: LogPosition;
  readonly createdAt: number;
  readonly promptId: string;
}

export interface MessageState {
  /** Sequence number of the first event of the message. */
  readonly seq: number;
  readonly role: Role;
  reason: string | null;
}

/** An open item of the output. */
export interface OpenOutputItem {
  readonly id: string;
  readonly index: number;
  /** The last part of the id. */
  readonly key: string;
}

export interface MessageDraft extends OpenOutputItem {
  readonly messageId: string;
  readonly pieces: TextPiece[];
  isCut: boolean;
  isWithdrawn: boolean;
  /** Set once the message is known to be commentary; the message closes with its last piece. Null before. */
  phase: AssistantMessageItem["phase"] | null;
}

export interface TextPiece {
  readonly draft: MessageDraft;
  readonly contentIndex: number;
  readonly content: TextBuilder;
  /** The block ended or was withdrawn. */
  isFinished: boolean;
  /** The content part is closed. */
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
  /** Null unless the item is open. */
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

/** Returns a key for a block, made of values which the log never drops. */
export function resolveBlockKey(
  { messages }: StreamState,
  { messageId, block }: { readonly messageId: string; readonly block: number },
): string {
  return `${messages.get(messageId)?.seq ?? 0}-${block}`;
}

type OpeningFields = Omit<OpenItem, "id" | "status" | "type">;

/** Opens an item at the end of the output. `fields` are the zero values of its type. */
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
