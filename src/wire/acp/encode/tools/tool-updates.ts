import type { ApprovalRequested } from "../../../../domain/events/approval-events.ts";
import type {
  ToolCallOpened,
  ToolCallReceived,
  ToolFinished,
  ToolCallInputDelta,
  ToolProgress,
  ToolStarted,
} from "../../../../domain/events/tool-events.ts";
import type { TurnPaused } from "../../../../domain/events/turn-events.ts";
import type { Emit } from "../../../../domain/codec.ts";
import type { Envelope } from "../../../../domain/events/envelope.ts";
import type { JsonObject } from "../../../../data/json.ts";
import { encodeDiffs } from "./encode-diffs.ts";
import { fits, fitValue, fitText, measureJsonBytes, MAX_ESCAPED_BYTES } from "../../fit-json.ts";
import { maskCredentials } from "../permissions/mask-credentials.ts";
import { maskUnreadableArguments, readSafeStart } from "../permissions/partial-arguments.ts";
import { previewArguments } from "../permissions/argument-preview.ts";
import type { ToolCallFields, ToolContent } from "../acp-session-update.ts";
import {
  encodeTerminalOutput,
  encodeTerminalProgress,
  encodeTerminalExit,
} from "./terminal-updates.ts";
import {
  encodeRawOutput,
  encodeResultParts,
  encodeLocations,
  encodeTextContent,
} from "./tool-content.ts";
import { resolveExecutor, findTool } from "./tool-lookup.ts";
import {
  computeDuration,
  encodeEnding,
  isSuccessful,
  hasRun,
  type MetaFields,
} from "./tool-meta.ts";
import { openToolCall, showToolCall, updateToolCall } from "./open-tool-calls.ts";
import {
  emitVendorUpdate,
  resolveWorkspace,
  type AcpOutput,
  type UpdateState,
} from "../update-state.ts";
import { encodeProgress } from "../vendor-updates.ts";

export function encodeToolCallOpened(
  state: UpdateState,
  event: ToolCallOpened,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  const { toolCallId, name } = event;
  if (openToolCall(state, { toolCallId, name, at }) === undefined) return;
  showToolCall(state, { toolCallId }, emit, encodeParsing(state, true));
}

/**
 * Emits streamed arguments without credentials. Each update repeats the earlier text, so an update is sent only after
 * the arguments have grown by half, and only while they fit into half a line.
 */
export function encodeInputDelta(
  state: UpdateState,
  { toolCallId, text }: ToolCallInputDelta,
  emit: Emit<AcpOutput>,
): void {
  const call = state.toolCalls.get(toolCallId);
  if (call === undefined || !state.isLive || !state.getProfile().isBridgeHost) return;
  if (call.input.length > state.lineBytes / 2 / MAX_ESCAPED_BYTES) return;
  call.input += text;
  if (call.input.length > state.lineBytes / 2 / MAX_ESCAPED_BYTES) return;
  if (call.input.length < call.sentInputLength * 1.5) return;
  call.sentInputLength = call.input.length;
  const rawInputPartial = readSafeStart(call.input);
  if (rawInputPartial.length <= call.sentPartialLength) return;
  call.sentPartialLength = rawInputPartial.length;
  updateToolCall(state, { toolCallId }, emit, { parsing: true, rawInputPartial });
}

/** Emits the whole arguments. Arguments that are not valid JSON are sent as text. */
export function encodeToolCallReceived(
  state: UpdateState,
  event: ToolCallReceived,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  const { toolCallId, toolCall } = event;
  const { name, input, inputText, runBy } = toolCall;
  if (openToolCall(state, { toolCallId, name, at }) === undefined) return;
  const { rawInput, truncated } = encodeInput(state, toolCallId, input ?? inputText);
  showToolCall(state, { toolCallId, rawInput }, emit, {
    ...encodeParsing(state, false),
    ...truncated,
  });
  // A server tool runs at the provider, which does not report its start.
  if (runBy === "server") updateToolCall(state, { toolCallId, status: "in_progress" }, emit);
}

/** Emits arguments edited by an approver; the tool runs with these arguments. */
export function encodeEditedInput(
  state: UpdateState,
  toolCallId: string,
  input: JsonObject,
  emit: Emit<AcpOutput>,
): void {
  const { rawInput, truncated } = encodeInput(state, toolCallId, input);
  updateToolCall(state, { toolCallId, rawInput }, emit, truncated);
}

/** Encodes arguments without credentials, and as a preview if they do not fit into half a line. */
function encodeInput(
  { lineBytes }: UpdateState,
  toolCallId: string,
  input: JsonObject | string,
): { readonly rawInput: unknown; readonly truncated?: Pick<MetaFields, "truncated"> } {
  if (typeof input === "string")
    return { rawInput: fitValue(maskUnreadableArguments(input), lineBytes / 2) };
  const { args } = maskCredentials(input);
  if (fits(args, lineBytes / 2)) return { rawInput: args };
  const rawInput = previewArguments(args, lineBytes / 2, toolCallId);
  const sizes = { bytes: measureJsonBytes(args), shownBytes: measureJsonBytes(rawInput) };
  return { rawInput, truncated: { truncated: { previews: ["rawInput"], ...sizes } } };
}

/** Stores the diffs of an approval request. Later updates repeat them, because each update replaces the content. */
export function storePreviewDiffs(
  state: UpdateState,
  { subjectId, diffs = [] }: ApprovalRequested,
): void {
  const call = state.toolCalls.get(subjectId);
  if (call === undefined || diffs.length === 0) return;
  call.diffs = encodeDiffs(diffs, resolveWorkspace(state), state.lineBytes / 4);
}

export function encodeToolStarted(
  state: UpdateState,
  { toolCallId }: ToolStarted,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  if (openToolCall(state, { toolCallId, at }) === undefined) return;
  updateToolCall(state, { toolCallId, status: "in_progress" }, emit);
}

/** The tool calls of a paused turn run in another client, so their status is in progress. */
export function encodeTurnPaused(
  state: UpdateState,
  { toolCallIds }: TurnPaused,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  for (const toolCallId of toolCallIds) {
    if (openToolCall(state, { toolCallId, at }) === undefined) continue;
    updateToolCall(state, { toolCallId, status: "in_progress" }, emit);
  }
}

export function encodeToolProgress(
  state: UpdateState,
  event: ToolProgress,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  const { toolCallId } = event;
  const call = openToolCall(state, { toolCallId, at });
  if (call === undefined) return;
  const text = fitText(event.text, state.lineBytes / 8);
  const executor = resolveExecutor(state, toolCallId);
  const meta: MetaFields = executor === undefined ? {} : { executor };
  if (call.hasTerminal) {
    const terminal = encodeTerminalProgress(toolCallId, text);
    updateToolCall(state, { toolCallId }, emit, { ...meta, terminal });
  } else {
    updateToolCall(
      state,
      { toolCallId, content: [...call.diffs, encodeTextContent(text)] },
      emit,
      meta,
    );
  }
  if (!state.getProfile().isBridgeHost) return;
  const { progress = null, total = null } = event.amount ?? {};
  const about = { phase: "tool", message: text, progress, total, data: { toolCallId } };
  emitVendorUpdate(state, encodeProgress(about), emit);
}

/**
 * Emits the end of a tool call. ACP has only `completed` and `failed`: a denied or cancelled tool call is `failed`, and
 * its content states the reason.
 */
export function encodeToolFinished(
  state: UpdateState,
  event: ToolFinished,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  const { toolCallId, ending, result, attachments = {} } = event;
  const call = openToolCall(state, { toolCallId, at });
  if (call === undefined) return;
  const { data, locations = [] } = attachments;
  const inTerminal = call.hasTerminal && hasRun(ending);
  const fields: ToolCallFields = {
    toolCallId,
    status: isSuccessful(event) ? "completed" : "failed",
    ...(!inTerminal && { content: encodeFinishedContent(state, event) }),
    ...encodeLocations(locations, resolveWorkspace(state), state.lineBytes / 16),
    rawOutput: fitValue(data ?? encodeRawOutput(result.parts), state.lineBytes / 5),
  };
  const meta = encodeEnding(state, event, at);
  if (inTerminal) {
    for (const terminal of encodeTerminalOutput(event, state.lineBytes)) {
      updateToolCall(state, { toolCallId }, emit, { terminal });
    }
    updateToolCall(state, fields, emit, { ...meta, terminal: encodeTerminalExit(event) });
  } else updateToolCall(state, fields, emit, meta);
  state.toolCalls.delete(toolCallId);
  state.endedToolCalls.add(toolCallId);
}

function encodeFinishedContent(state: UpdateState, event: ToolFinished): readonly ToolContent[] {
  const { toolCallId, result, attachments: beside } = event;
  const call = state.toolCalls.get(toolCallId);
  const isCommand = findTool(state, call?.name)?.traits?.kind === "execute";
  const finalDiffs = beside?.diffs ?? [];
  const diffs =
    finalDiffs.length > 0
      ? encodeDiffs(finalDiffs, resolveWorkspace(state), state.lineBytes / 4)
      : (call?.diffs ?? []);
  const bytes = state.lineBytes / 5;
  return [...diffs, ...encodeResultParts(result.parts, isCommand && hasRun(event.ending), bytes)];
}

/**
 * Closes open tool calls at the end of a turn. Otherwise a client would show running tool calls after a cancellation or
 * a crash.
 */
export function closeToolCalls(state: UpdateState, emit: Emit<AcpOutput>, at: number): void {
  for (const toolCallId of state.toolCalls.keys()) {
    updateToolCall(state, { toolCallId, status: "failed" }, emit, {
      durationMs: computeDuration(state, toolCallId, at),
      error: "The turn ended before the tool call finished",
      errorCategory: "cancelled",
    });
  }
  state.toolCalls.clear();
}

function encodeParsing(state: UpdateState, isParsing: boolean): { readonly parsing?: boolean } {
  return state.getProfile().isBridgeHost ? { parsing: isParsing } : {};
}
