import type { Emit } from "../../domain/codec.ts";
import { fittedText } from "./fitted.ts";
import type { ToolCallFields } from "./session-update.ts";
import { terminalShown } from "./terminal-updates.ts";
import { toolNamed } from "./tool-facts.ts";
import { toolMeta, type MetaFields } from "./tool-meta.ts";
import { isTold, tell, type AcpOutput, type OpenCall, type UpdateState } from "./update-state.ts";

interface NewCall {
  readonly toolCallId: string;
  readonly name?: string;
  readonly at: number;
}

/** Remembers a call, once. Undefined for one that has ended: nothing more is told of it. */
export function openCall(
  state: UpdateState,
  { toolCallId, name, at }: NewCall,
): OpenCall | undefined {
  if (state.endedCalls.has(toolCallId)) return undefined;
  const known = state.calls.get(toolCallId);
  if (known !== undefined) {
    known.name ??= name;
    return known;
  }
  const hasTerminal =
    toolNamed(state, name)?.traits?.kind === "execute" && state.profile().showsTerminalOutput;
  const call = { name, at, hasTerminal, isShown: false, diffs: [], input: "", told: 0 };
  state.calls.set(toolCallId, call);
  return call;
}

/** Tells of a call by its `tool_call`, or, where the client has that, by an update. */
export function showCall(
  state: UpdateState,
  fields: ToolCallFields,
  emit: Emit<AcpOutput>,
  meta: MetaFields = {},
): void {
  const { toolCallId } = fields;
  const call = state.calls.get(toolCallId);
  if (call === undefined) return;
  const kind = toolNamed(state, call.name)?.traits?.kind;
  const title = fittedText(call.name ?? toolCallId, TITLE_BYTES);
  const named = { title, ...fields, ...(kind !== undefined && { kind }) };
  if (call.isShown) return updateCall(state, named, emit, meta);
  call.isShown = isTold(state);
  const { content, terminal } = call.hasTerminal ? terminalShown(toolCallId) : {};
  const first = { ...named, ...(content !== undefined && { content }), status: "pending" } as const;
  const about = toolMeta(state, { ...meta, ...(terminal !== undefined && { terminal }) });
  tell(state, { sessionUpdate: "tool_call", ...first, ...about }, emit);
}

/** A name that a model made up can be of any length. */
const TITLE_BYTES = 400;

/** Clients drop an update of a call that they do not know, so such a call is shown first. */
export function updateCall(
  state: UpdateState,
  fields: ToolCallFields,
  emit: Emit<AcpOutput>,
  meta: MetaFields = {},
): void {
  const { toolCallId } = fields;
  const call = state.calls.get(toolCallId);
  if (call === undefined) return;
  if (!call.isShown) showCall(state, { toolCallId }, emit);
  tell(state, { sessionUpdate: "tool_call_update", ...fields, ...toolMeta(state, meta) }, emit);
}
