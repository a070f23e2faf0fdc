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

/** Remembers a call, once. Undefined for one that has ended: nothing more is told of it. */
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

/** Tells of a call by its `tool_call`, or, where the client has that, by an update. */
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

/** A name that a model made up can be of any length. */
const TITLE_BYTES = 400;

/** Clients drop an update of a call that they do not know, so such a call is shown first. */
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
