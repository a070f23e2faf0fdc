import type { Codec, Emit } from "../domain/codec.ts";
import type { Diagnostic } from "../domain/diagnostic.ts";
import { toJsonText } from "../data/json.ts";
import type {
  ActivityEvent,
  HookFired,
  ProviderEvent,
  Role,
  TurnEnd,
  UnknownEvent,
} from "../domain/provider/provider-event.ts";
import type { ToolCall, ToolResult, ToolResultPart } from "../domain/tools/tool-call.ts";
import type { Usage } from "../domain/usage.ts";
import { formatPrettyJson } from "./pretty-json.ts";
import { toSingleLine, escapeControls, type Style } from "./trace-style.ts";

export interface TraceState {
  readonly roles: Map<number, Role>;
  /** The message of the most recent heading. */
  heading: number | null;
  readonly names: Map<string, string>;
  messages: number;
  calls: number;
  readonly diagnostics: Diagnostic[];
  diagnosticCount: number;
  skipped: number;
}

/** The remaining diagnostics are only counted. */
const MAX_LISTED_DIAGNOSTICS = 100;

/** Formats a stream for reading: one or a few lines per block, when the block ends. */
export function createTraceEncoder(style: Style): Codec<TraceState, ProviderEvent, string> {
  return {
    initial: () => ({
      roles: new Map(),
      heading: null,
      names: new Map(),
      messages: 0,
      calls: 0,
      diagnostics: [],
      diagnosticCount: 0,
      skipped: 0,
    }),
    step: (state, event, emit) => traceEvent(state, event, style, emit),
    finish: (state, emit) => listDiagnostics(state, style, emit),
  };
}

function traceEvent(
  state: TraceState,
  event: ProviderEvent,
  style: Style,
  emit: Emit<string>,
): void {
  switch (event.type) {
    case "message.start":
      state.messages += 1;
      return storeBounded(state.roles, event.message, event.role);
    case "text.end":
      writeHeading(state, event.message, style, emit);
      return emit(indentLines(event.text, "  "));
    case "reasoning.end":
      writeHeading(state, event.message, style, emit);
      return emit(style.dim(indentLines(formatThought(event), "  ~ ")));
    case "tool.end":
      state.calls += 1;
      storeBounded(state.names, event.toolCall.id, event.toolCall.name);
      writeHeading(state, event.message, style, emit);
      return emit(formatCall(event.toolCall, style));
    case "tool.result":
      writeHeading(state, event.message, style, emit);
      return emit(formatResult(event.result, state.names, style));
    case "message.replaced":
      writeHeading(state, event.message, style, emit);
      return emit(`${style.warn("  replaced by")}\n${indentLines(event.text, "  ")}`);
    case "hook":
      return emit(style.note(`  hook ${formatHook(event)}\n`));
    case "activity":
      return emit(style.dim(`  · ${formatActivity(event)}\n`));
    case "unknown":
      return emit(style.dim(`  ? ${formatUnknown(event)}\n`));
    case "diagnostic":
      return noteDiagnostic(state, event.diagnostic);
    case "end":
      return emit(`\n${formatEnd(event, state, style)}`);
    case "message.end":
    case "text.delta":
    case "reasoning.delta":
    case "tool.start":
    case "tool.delta":
    case "usage":
      return;
    default:
      event satisfies never;
  }
}

/**
 * Evicts the oldest entry beyond the limit. A capture may contain any number of messages and tool calls, but references
 * are always to recent entries.
 */
function storeBounded<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.set(key, value);
  if (map.size <= MAX_STORED) return;
  for (const [oldest] of map) {
    map.delete(oldest);
    return;
  }
}

const MAX_STORED = 10_000;

function noteDiagnostic(state: TraceState, diagnostic: Diagnostic): void {
  // Every Strands stream repeats content; such repeats are only counted.
  if (diagnostic.code === "noise_skipped") {
    state.skipped += diagnostic.count ?? 1;
    return;
  }
  state.diagnosticCount += 1;
  if (state.diagnostics.length < MAX_LISTED_DIAGNOSTICS) state.diagnostics.push(diagnostic);
}

function writeHeading(state: TraceState, message: number, style: Style, emit: Emit<string>): void {
  if (state.heading === message) return;
  const first = state.heading === null;
  state.heading = message;
  emit(`${first ? "" : "\n"}${style.strong(state.roles.get(message) ?? "message")}\n`);
}

function formatThought(event: {
  readonly text: string;
  readonly redacted?: string;
  readonly signature?: string;
}): string {
  if (event.redacted !== undefined)
    return `[redacted, ${event.redacted.length} characters of base64]`;
  return event.signature === undefined ? event.text : `${event.text} [signed]`;
}

function formatCall(call: ToolCall, style: Style): string {
  const where = call.runBy === "server" ? ` (on ${toSingleLine(call.server ?? "the server")})` : "";
  const head = `  → ${style.strong(toSingleLine(call.name || "(no name)"))}${where} ${style.dim(toSingleLine(call.id))}\n`;
  const body = call.input === null ? call.inputText : formatPrettyJson(call.input);
  const problem =
    call.inputError === undefined
      ? ""
      : style.bad(`    ! ${toSingleLine(call.inputError.message)}\n`);
  return body === "{}" ? head + problem : head + indentLines(body, "    ") + problem;
}

function formatResult(
  result: ToolResult,
  names: ReadonlyMap<string, string>,
  style: Style,
): string {
  const mark = result.isError ? style.bad("← failed") : style.good("←");
  const name = toSingleLine(names.get(result.toolCallId) ?? "(unknown call)");
  const head = `  ${mark} ${style.strong(name)} ${style.dim(toSingleLine(result.toolCallId))}\n`;
  return head + result.parts.map((part) => indentLines(formatPart(part), "    ")).join("");
}

/** Text as it is, other parts as JSON. */
function formatPart(part: ToolResultPart): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "json":
      return formatPrettyJson(part.value);
    case "unknown":
      return toJsonText(part.raw);
    default:
      return part satisfies never;
  }
}

function formatHook({ name, stage, decision, reason }: HookFired): string {
  const outcome = [decision, reason].filter((word) => word !== undefined).join(": ");
  return toSingleLine(`${name} ${stage}${outcome === "" ? "" : ` → ${outcome}`}`);
}

function formatActivity({ kind, label, toolCallId }: ActivityEvent): string {
  return toSingleLine([kind, label, toolCallId].filter((word) => word !== undefined).join(" "));
}

function formatUnknown({ what, name, raw }: UnknownEvent): string {
  const text = typeof raw === "string" ? raw : toJsonText(raw);
  const preview = text.length > 200 ? `${text.slice(0, 200)}… (${text.length} characters)` : text;
  return toSingleLine(`unknown ${what} ${name}: ${preview}`);
}

function formatEnd(end: TurnEnd, state: TraceState, style: Style): string {
  const paint = {
    completed: style.good,
    "action-required": style.note,
    limited: style.warn,
    failed: style.bad,
    other: style.warn,
  }[end.outcome];
  // Provider streams have no outcome `cancelled`; only the reason identifies a cancelled turn.
  const isCancelled = end.outcome === "other" && end.reason === "cancelled";
  const ending = isCancelled ? "cancelled" : end.outcome;
  const reason = end.reason === null || isCancelled ? "" : ` (${toSingleLine(end.reason)})`;
  const counts = `${pluralize(state.messages, "message")}, ${pluralize(state.calls, "call")}`;
  const lines = [`${paint(ending)}${reason} · ${counts} · ${formatUsage(end.usage)}\n`];
  if (end.failure !== undefined) {
    lines.push(style.bad(`${end.failure.code}: ${toSingleLine(end.failure.message)}\n`));
  }
  if (end.stoppedBy !== undefined) {
    const { hook, reason: why } = end.stoppedBy;
    lines.push(
      style.warn(
        `stopped by hook ${toSingleLine(hook)}${why === undefined ? "" : `: ${toSingleLine(why)}`}\n`,
      ),
    );
  }
  if (end.openToolCallIds.length > 0) {
    const state = end.outcome === "action-required" ? "waits for" : "left open";
    lines.push(`${state} ${toSingleLine(end.openToolCallIds.join(", "))}\n`);
  }
  return lines.join("");
}

function formatUsage(usage: Usage | null): string {
  if (usage === null) return "no usage reported";
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, totalTokens } = usage;
  const cache =
    cacheReadTokens + cacheWriteTokens > 0
      ? `, cache ${cacheReadTokens} read ${cacheWriteTokens} written`
      : "";
  return `tokens ${inputTokens} in, ${outputTokens} out${cache}, ${totalTokens} total`;
}

function listDiagnostics(state: TraceState, style: Style, emit: Emit<string>): void {
  if (state.skipped > 0) {
    emit(style.dim(`${pluralize(state.skipped, "repeated line")} skipped\n`));
  }
  if (state.diagnosticCount === 0) return;
  emit(style.warn(`\n${pluralize(state.diagnosticCount, "diagnostic")}\n`));
  for (const { code, message, offset, count } of state.diagnostics) {
    const location = offset === undefined ? "" : ` at byte ${offset}`;
    const times = count === undefined ? "" : ` (×${count})`;
    emit(`  ${code}${location}${times}: ${toSingleLine(message)}\n`);
  }
  const unlistedCount = state.diagnosticCount - state.diagnostics.length;
  if (unlistedCount > 0) emit(`  and ${unlistedCount} more; --format events lists them all\n`);
}

function pluralize(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

function indentLines(text: string, indent: string): string {
  const lines = escapeControls(text).split("\n");
  return lines.map((line) => `${indent}${line}\n`).join("");
}
