import type { ToolEnding, ToolFinished } from "../../../../domain/events/tool-events.ts";
import { fitObject, fitText } from "../../fit-json.ts";
import type { TruncationNote } from "../permissions/encode-permission-request.ts";
import { encodeMutationRecord } from "../../../bridge/mutation-record.ts";
import type { ToolCallFields, ToolMeta } from "../acp-session-update.ts";
import { formatPart } from "./tool-content.ts";
import { resolveExecutor, type WireExecutor } from "./tool-lookup.ts";
import { narrowAgent, type UpdateState } from "../update-state.ts";
import { omitUndefined } from "../../../../data/omit-undefined.ts";

/** Fields of a tool call for bridge hosts, in addition to ACP's fields. */
export interface LifecycleFields {
  /** Milliseconds from the tool call to its end, including the wait for approval. */
  readonly durationMs?: number;
  /** Milliseconds that the tool itself ran. */
  readonly executionDurationMs?: number;
  readonly error?: string;
  readonly errorCategory?: ErrorCategory;
  readonly executor?: WireExecutor;
  /** True while the arguments are still streaming. */
  readonly parsing?: boolean;
  /** The arguments received so far, as text. It need not be valid JSON yet. */
  readonly rawInputPartial?: string;
  /** Present if `rawInput` is a preview. */
  readonly truncated?: Omit<TruncationNote, "fetch">;
}

/** Lifecycle fields, and output for an editor's terminal view. */
export interface MetaFields extends LifecycleFields {
  readonly terminal?: Omit<ToolMeta, "harn">;
}

type ErrorCategory =
  | "schema_validation"
  | "tool_error"
  | "mcp_server_error"
  | "host_bridge_error"
  | "permission_denied"
  | "parse_aborted"
  | "timeout"
  | "cancelled"
  | "unknown";

/** Encodes the `_meta` of a tool call update. Bridge hosts also receive the mutation record as `audit`. */
export function encodeToolMeta(
  state: UpdateState,
  { terminal, ...fields }: MetaFields,
): Pick<ToolCallFields, "_meta"> {
  const { turn, options, lineBytes, getProfile, lineage } = state;
  const turnId = turn?.turnId ?? null;
  const { isBridgeHost } = getProfile();
  const mutationContext = {
    sessionId: options.sessionId,
    turnId,
    agent: narrowAgent(state),
    lineage,
  };
  const record = isBridgeHost ? encodeMutationRecord(mutationContext) : undefined;
  const audit = record === undefined ? {} : { audit: fitObject(record, lineBytes / 8) };
  const harn = { ...audit, ...fields };
  const meta = { ...(Object.keys(harn).length > 0 && { harn }), ...terminal };
  return Object.keys(meta).length === 0 ? {} : { _meta: meta };
}

/** Encodes the end of a tool call in machine-readable fields. */
export function encodeEnding(state: UpdateState, event: ToolFinished, at: number): LifecycleFields {
  const { toolCallId, ending, durationMs, result } = event;
  const executor = ending === "server" ? "provider_native" : resolveExecutor(state, toolCallId);
  return {
    durationMs: computeDuration(state, toolCallId, at),
    ...omitUndefined({ executionDurationMs: durationMs }),
    ...(!isSuccessful(event) && {
      error: fitText(result.parts.map(formatPart).join("\n"), state.lineBytes / 32),
      errorCategory: resolveErrorCategory(ending, executor),
    }),
    ...(hasRun(ending) && executor !== undefined && { executor }),
  };
}

/** Returns milliseconds, never negative: the system clock may be set back. */
export function computeDuration(
  { toolCalls }: UpdateState,
  toolCallId: string,
  at: number,
): number {
  return Math.max(0, at - (toolCalls.get(toolCallId)?.openedAt ?? at));
}

export function isSuccessful({ ending, result }: ToolFinished): boolean {
  return (ending === "succeeded" || ending === "server") && !result.isError;
}

/**
 * Returns true if the tool ran. Denied and refused tool calls have no executor; a cancelled tool call may or may not
 * have run, so it counts as not run.
 */
export function hasRun(ending: ToolEnding): boolean {
  return ending !== "denied" && ending !== "refused" && ending !== "cancelled";
}

function resolveErrorCategory(
  ending: ToolEnding,
  executor: WireExecutor | undefined,
): ErrorCategory {
  switch (ending) {
    case "denied":
      return "permission_denied";
    case "cancelled":
      return "cancelled";
    case "timed-out":
      return "timeout";
    case "refused":
      return "schema_validation";
    case "unknown":
      return "unknown";
    case "succeeded":
    case "failed":
    case "server":
      if (executor === "host_bridge") return "host_bridge_error";
      return typeof executor === "object" ? "mcp_server_error" : "tool_error";
  }
}
