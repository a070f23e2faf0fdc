import type {
  ApprovalRequested,
  ToolAnnounced,
  ToolCalled,
  ToolFinished,
  ToolInputDelta,
  ToolProgressed,
  ToolStarted,
  TurnPaused,
} from "../../domain/agent-event.ts";
import type { Emit } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/envelope.ts";
import type { JsonObject } from "../../domain/json.ts";
import { diffContent } from "./diff-content.ts";
import { fits, fitted, fittedText, jsonBytes, MOST_ESCAPED } from "./fitted.ts";
import { maskCredentials } from "./mask-credentials.ts";
import { previewArguments } from "./preview.ts";
import type { ToolCallFields, ToolContent } from "./session-update.ts";
import { outputInTerminal, progressInTerminal, terminalEnd } from "./terminal-updates.ts";
import { rawOutput, resultContent, shownLocations, textContent } from "./tool-content.ts";
import { executorOf, toolNamed } from "./tool-facts.ts";
import { durationOf, endingFields, isDone, wasRun, type MetaFields } from "./tool-meta.ts";
import { openCall, showCall, updateCall } from "./tool-shown.ts";
import { tellVendor, workspaceOf, type AcpOutput, type UpdateState } from "./update-state.ts";
import { progressUpdate } from "./vendor-updates.ts";

export function announced(
  state: UpdateState,
  event: ToolAnnounced,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  const { toolCallId, name } = event;
  if (openCall(state, { toolCallId, name, at }) === undefined) return;
  showCall(state, { toolCallId }, emit, parsing(state, true));
}

/**
 * Arguments as they are streamed, for hosts that look. All of them each time, so not every time: when they have grown by
 * half, and only as far as fits into a line with room to spare.
 */
export function inputDelta(
  state: UpdateState,
  { toolCallId, text }: ToolInputDelta,
  emit: Emit<AcpOutput>,
): void {
  const call = state.calls.get(toolCallId);
  if (call === undefined || !state.isLive || !state.profile().isBridgeHost) return;
  if (call.input.length > state.lineBytes / 2 / MOST_ESCAPED) return;
  call.input += text;
  if (call.input.length > state.lineBytes / 2 / MOST_ESCAPED) return;
  if (call.input.length < call.told * 1.5) return;
  call.told = call.input.length;
  updateCall(state, { toolCallId }, emit, { parsing: true, rawInputPartial: call.input });
}

/** A call that could not be read is shown as it was streamed. */
export function called(
  state: UpdateState,
  event: ToolCalled,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  const { toolCallId, call } = event;
  const { name, input, inputText, runBy } = call;
  if (openCall(state, { toolCallId, name, at }) === undefined) return;
  const { rawInput, truncated } = shownInput(state, toolCallId, input ?? inputText);
  showCall(state, { toolCallId, rawInput }, emit, { ...parsing(state, false), ...truncated });
  // It runs where the agent does, and nobody tells us that it started.
  if (runBy === "server") updateCall(state, { toolCallId, status: "in_progress" }, emit);
}

/** An approver edited the arguments: these are the ones that the tool runs with. */
export function rewritten(
  state: UpdateState,
  toolCallId: string,
  input: JsonObject,
  emit: Emit<AcpOutput>,
): void {
  const { rawInput, truncated } = shownInput(state, toolCallId, input);
  updateCall(state, { toolCallId, rawInput }, emit, truncated);
}

/** Arguments as an update shows them: without credentials, and cut if they do not fit into the line. */
function shownInput(
  { lineBytes }: UpdateState,
  toolCallId: string,
  input: JsonObject | string,
): { readonly rawInput: unknown; readonly truncated?: Pick<MetaFields, "truncated"> } {
  if (typeof input === "string") return { rawInput: fitted(input, lineBytes / 2) };
  const { args } = maskCredentials(input);
  if (fits(args, lineBytes / 2)) return { rawInput: args };
  const rawInput = previewArguments(args, lineBytes / 2, toolCallId);
  const sizes = { bytes: jsonBytes(args), shownBytes: jsonBytes(rawInput) };
  return { rawInput, truncated: { truncated: { previews: ["rawInput"], ...sizes } } };
}

/** A question about a call shows what it would change; what is told of the call from here on keeps that. */
export function previewed(state: UpdateState, { about, diffs = [] }: ApprovalRequested): void {
  const call = state.calls.get(about);
  if (call === undefined || diffs.length === 0) return;
  call.diffs = diffContent(diffs, workspaceOf(state), state.lineBytes / 4);
}

export function started(
  state: UpdateState,
  { toolCallId }: ToolStarted,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  if (openCall(state, { toolCallId, at }) === undefined) return;
  updateCall(state, { toolCallId, status: "in_progress" }, emit);
}

/** Somebody else is at these. */
export function handedOut(
  state: UpdateState,
  { toolCallIds }: TurnPaused,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  for (const toolCallId of toolCallIds) {
    if (openCall(state, { toolCallId, at }) === undefined) continue;
    updateCall(state, { toolCallId, status: "in_progress" }, emit);
  }
}

export function progressed(
  state: UpdateState,
  event: ToolProgressed,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  const { toolCallId } = event;
  const call = openCall(state, { toolCallId, at });
  if (call === undefined) return;
  const text = fittedText(event.text, state.lineBytes / 8);
  const executor = executorOf(state, toolCallId);
  const meta: MetaFields = executor === undefined ? {} : { executor };
  if (call.hasTerminal) {
    const terminal = progressInTerminal(toolCallId, text);
    updateCall(state, { toolCallId }, emit, { ...meta, terminal });
  } else {
    updateCall(state, { toolCallId, content: [...call.diffs, textContent(text)] }, emit, meta);
  }
  if (!state.profile().isBridgeHost) return;
  const { progress = null, total = null } = event.amount ?? {};
  const about = { phase: "tool", message: text, progress, total, data: { toolCallId } };
  tellVendor(state, progressUpdate(about), emit);
}

/** ACP knows no end but these two: denied, cancelled and the rest are failed calls, and say so in their content. */
export function finished(
  state: UpdateState,
  event: ToolFinished,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  const { toolCallId, ending, result, beside = {} } = event;
  const call = openCall(state, { toolCallId, at });
  if (call === undefined) return;
  const { data, locations = [] } = beside;
  const inTerminal = call.hasTerminal && wasRun(ending);
  const fields: ToolCallFields = {
    toolCallId,
    status: isDone(event) ? "completed" : "failed",
    ...(!inTerminal && { content: contentOf(state, event) }),
    ...shownLocations(locations, workspaceOf(state), state.lineBytes / 16),
    rawOutput: fitted(data ?? rawOutput(result.parts), state.lineBytes / 5),
  };
  const meta = endingFields(state, event, at);
  if (inTerminal) {
    for (const terminal of outputInTerminal(event, state.lineBytes)) {
      updateCall(state, { toolCallId }, emit, { terminal });
    }
    updateCall(state, fields, emit, { ...meta, terminal: terminalEnd(event) });
  } else updateCall(state, fields, emit, meta);
  state.calls.delete(toolCallId);
  state.endedCalls.add(toolCallId);
}

function contentOf(state: UpdateState, event: ToolFinished): readonly ToolContent[] {
  const { toolCallId, result, beside } = event;
  const call = state.calls.get(toolCallId);
  const isCommand = toolNamed(state, call?.name)?.traits?.kind === "execute";
  const done = beside?.diffs ?? [];
  const diffs =
    done.length > 0
      ? diffContent(done, workspaceOf(state), state.lineBytes / 4)
      : (call?.diffs ?? []);
  const bytes = state.lineBytes / 5;
  return [...diffs, ...resultContent(result.parts, isCommand && wasRun(event.ending), bytes)];
}

/** No call is left as if it went on: not after a cancel, and not after a crash. */
export function closeCalls(state: UpdateState, emit: Emit<AcpOutput>, at: number): void {
  for (const toolCallId of state.calls.keys()) {
    updateCall(state, { toolCallId, status: "failed" }, emit, {
      durationMs: durationOf(state, toolCallId, at),
      error: "The turn ended before the call did",
      errorCategory: "cancelled",
    });
  }
  state.calls.clear();
  state.endedCalls.clear();
}

function parsing(state: UpdateState, isParsing: boolean): { readonly parsing?: boolean } {
  return state.profile().isBridgeHost ? { parsing: isParsing } : {};
}
