import type { Emit } from "../../../../domain/codec.ts";
import { fitText } from "../../fit-json.ts";
import type { ToolCallFields } from "../acp-session-update.ts";
import { encodeTerminalStart } from "./terminal-updates.ts";
import { findTool } from "./tool-lookup.ts";
import { encodeToolMeta, type MetaFields } from "./tool-meta.ts";
import {
  shouldEmit,
  emitUpdate,
  type AcpOutput,
  type OpenToolCall,
  type UpdateState,
} from "../update-state.ts";
import { omitUndefined } from "../../../../data/omit-undefined.ts";

interface NewToolCall {
  readonly toolCallId: string;
  readonly name?: string;
  readonly at: number;
}

/**
 * Registers a tool call, or returns the registered tool call. Undefined for an ended tool call, whose updates are no
 * longer sent.
 */
export function openToolCall(
  state: UpdateState,
  { toolCallId, name, at: openedAt }: NewToolCall,
): OpenToolCall | undefined {
  if (state.endedToolCalls.has(toolCallId)) return undefined;
  const existingCall = state.toolCalls.get(toolCallId);
  if (existingCall !== undefined) {
    existingCall.name ??= name;
    return existingCall;
  }
  const hasTerminal =
    findTool(state, name)?.traits?.kind === "execute" && state.getProfile().showsTerminalOutput;
  const call = {
    name,
    openedAt,
    hasTerminal,
    isShown: false,
    diffs: [],
    input: "",
    sentInputLength: 0,
    sentPartialLength: 0,
  };
  state.toolCalls.set(toolCallId, call);
  return call;
}

/** Emits `tool_call`, or `tool_call_update` if the client already has the tool call. */
export function showToolCall(
  state: UpdateState,
  fields: ToolCallFields,
  emit: Emit<AcpOutput>,
  meta: MetaFields = {},
): void {
  const { toolCallId } = fields;
  const call = state.toolCalls.get(toolCallId);
  if (call === undefined) return;
  const kind = findTool(state, call.name)?.traits?.kind;
  const title = fitText(call.name ?? toolCallId, TITLE_BYTES);
  const named = { title, ...fields, ...omitUndefined({ kind }) };
  if (call.isShown) return updateToolCall(state, named, emit, meta);
  call.isShown = shouldEmit(state);
  const { content, terminal } = call.hasTerminal ? encodeTerminalStart(toolCallId) : {};
  const first = { ...named, ...omitUndefined({ content }), status: "pending" } as const;
  const about = encodeToolMeta(state, { ...meta, ...omitUndefined({ terminal }) });
  emitUpdate(state, { sessionUpdate: "tool_call", ...first, ...about }, emit);
}

/** Limit for titles, because a model may invent a name of any length. */
const TITLE_BYTES = 400;

/**
 * Emits an update of a tool call. Clients drop an update of an unknown tool call, so `tool_call` is emitted first if
 * necessary.
 */
export function updateToolCall(
  state: UpdateState,
  fields: ToolCallFields,
  emit: Emit<AcpOutput>,
  meta: MetaFields = {},
): void {
  const { toolCallId } = fields;
  const call = state.toolCalls.get(toolCallId);
  if (call === undefined) return;
  if (!call.isShown) showToolCall(state, { toolCallId }, emit);
  emitUpdate(
    state,
    { sessionUpdate: "tool_call_update", ...fields, ...encodeToolMeta(state, meta) },
    emit,
  );
}
