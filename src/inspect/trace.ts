import type { Codec, Emit } from "../domain/codec.ts";
import type { Diagnostic } from "../domain/diagnostic.ts";
import { jsonText } from "../domain/json.ts";
import type {
  ActivitySeen,
  HookFired,
  ProviderEvent,
  Role,
  TurnEnd,
  UnknownSeen,
} from "../domain/provider-event.ts";
import type { ToolCall, ToolResult, ToolResultPart } from "../domain/tool.ts";
import type { Usage } from "../domain/usage.ts";
import { prettyJson } from "./pretty-json.ts";
import { oneLine, printable, type Style } from "./style.ts";

export interface TraceState {
  readonly roles: Map<number, Role>;
  /** The message whose heading was printed last. */
  heading: number | null;
  readonly names: Map<string, string>;
  messages: number;
  calls: number;
  readonly diagnostics: Diagnostic[];
  diagnosticCount: number;
  skipped: number;
}

/** More than a person reads; the rest is counted. */
const LISTED_DIAGNOSTICS = 100;

/** Makes a stream readable: a line or a few for each block, when it ends. */
export function traceEncoder(style: Style): Codec<TraceState, ProviderEvent, string> {
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
      return remember(state.roles, event.message, event.role);
    case "text.end":
      heading(state, event.message, style, emit);
      return emit(indented(event.text, "  "));
    case "reasoning.end":
      heading(state, event.message, style, emit);
      return emit(style.dim(indented(thought(event), "  ~ ")));
    case "tool.end":
      state.calls += 1;
      remember(state.names, event.call.id, event.call.name);
      heading(state, event.message, style, emit);
      return emit(callLines(event.call, style));
    case "tool.result":
      heading(state, event.message, style, emit);
      return emit(resultLines(event.result, state.names, style));
    case "message.replaced":
      heading(state, event.message, style, emit);
      return emit(`${style.warn("  replaced by")}\n${indented(event.text, "  ")}`);
    case "hook":
      return emit(style.note(`  hook ${hookLine(event)}\n`));
    case "activity":
      return emit(style.dim(`  · ${activityLine(event)}\n`));
    case "unknown":
      return emit(style.dim(`  ? ${unknownLine(event)}\n`));
    case "diagnostic":
      return noteDiagnostic(state, event.diagnostic);
    case "end":
      return emit(`\n${endLines(event, state, style)}`);
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

/** A capture may hold any number of messages and calls; what is needed of them is near. */
function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.set(key, value);
  if (map.size <= MOST_REMEMBERED) return;
  for (const [oldest] of map) {
    map.delete(oldest);
    return;
  }
}

const MOST_REMEMBERED = 10_000;

function noteDiagnostic(state: TraceState, diagnostic: Diagnostic): void {
  // Every Strands stream repeats itself; that is nothing to look into.
  if (diagnostic.code === "noise_skipped") {
    state.skipped += diagnostic.count ?? 1;
    return;
  }
  state.diagnosticCount += 1;
  if (state.diagnostics.length < LISTED_DIAGNOSTICS) state.diagnostics.push(diagnostic);
}

function heading(state: TraceState, message: number, style: Style, emit: Emit<string>): void {
  if (state.heading === message) return;
  const first = state.heading === null;
  state.heading = message;
  emit(`${first ? "" : "\n"}${style.strong(state.roles.get(message) ?? "message")}\n`);
}

function thought(event: {
  readonly text: string;
  readonly redacted?: string;
  readonly signature?: string;
}): string {
  if (event.redacted !== undefined)
    return `[redacted, ${event.redacted.length} characters of base64]`;
  return event.signature === undefined ? event.text : `${event.text} [signed]`;
}

function callLines(call: ToolCall, style: Style): string {
  const where = call.runBy === "server" ? ` (on ${oneLine(call.server ?? "the server")})` : "";
  const head = `  → ${style.strong(oneLine(call.name || "(no name)"))}${where} ${style.dim(oneLine(call.id))}\n`;
  const body = call.input === null ? call.inputText : prettyJson(call.input);
  const problem =
    call.inputError === undefined ? "" : style.bad(`    ! ${oneLine(call.inputError.message)}\n`);
  return body === "{}" ? head + problem : head + indented(body, "    ") + problem;
}

function resultLines(result: ToolResult, names: ReadonlyMap<string, string>, style: Style): string {
  const mark = result.isError ? style.bad("← failed") : style.good("←");
  const name = oneLine(names.get(result.callId) ?? "(unknown call)");
  const head = `  ${mark} ${style.strong(name)} ${style.dim(oneLine(result.callId))}\n`;
  return head + result.parts.map((part) => indented(partText(part), "    ")).join("");
}

function partText(part: ToolResultPart): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "json":
      return prettyJson(part.value);
    case "unknown":
      return jsonText(part.raw);
    default:
      return part satisfies never;
  }
}

function hookLine({ name, stage, decision, reason }: HookFired): string {
  const said = [decision, reason].filter((word) => word !== undefined).join(": ");
  return oneLine(`${name} ${stage}${said === "" ? "" : ` → ${said}`}`);
}

function activityLine({ kind, label, callId }: ActivitySeen): string {
  return oneLine([kind, label, callId].filter((word) => word !== undefined).join(" "));
}

function unknownLine({ what, name, raw }: UnknownSeen): string {
  const text = typeof raw === "string" ? raw : jsonText(raw);
  const shown = text.length > 200 ? `${text.slice(0, 200)}… (${text.length} characters)` : text;
  return oneLine(`unknown ${what} ${name}: ${shown}`);
}

function endLines(end: TurnEnd, state: TraceState, style: Style): string {
  const paint = {
    completed: style.good,
    "action-required": style.note,
    limited: style.warn,
    failed: style.bad,
    other: style.warn,
  }[end.outcome];
  // A provider's stream has no outcome of this name, only the reason.
  const isCancelled = end.outcome === "other" && end.reason === "cancelled";
  const ending = isCancelled ? "cancelled" : end.outcome;
  const reason = end.reason === null || isCancelled ? "" : ` (${oneLine(end.reason)})`;
  const counts = `${counted(state.messages, "message")}, ${counted(state.calls, "call")}`;
  const lines = [`${paint(ending)}${reason} · ${counts} · ${usageText(end.usage)}\n`];
  if (end.failure !== undefined) {
    lines.push(style.bad(`${end.failure.code}: ${oneLine(end.failure.message)}\n`));
  }
  if (end.stoppedBy !== undefined) {
    const { hook, reason: why } = end.stoppedBy;
    lines.push(
      style.warn(
        `stopped by hook ${oneLine(hook)}${why === undefined ? "" : `: ${oneLine(why)}`}\n`,
      ),
    );
  }
  if (end.openCalls.length > 0) {
    const state = end.outcome === "action-required" ? "waits for" : "left open";
    lines.push(`${state} ${oneLine(end.openCalls.join(", "))}\n`);
  }
  return lines.join("");
}

function usageText(usage: Usage | null): string {
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
    emit(style.dim(`${counted(state.skipped, "repeated line")} skipped unread\n`));
  }
  if (state.diagnosticCount === 0) return;
  emit(style.warn(`\n${counted(state.diagnosticCount, "diagnostic")}\n`));
  for (const { code, message, offset, count } of state.diagnostics) {
    const place = offset === undefined ? "" : ` at byte ${offset}`;
    const times = count === undefined ? "" : ` (×${count})`;
    emit(`  ${code}${place}${times}: ${oneLine(message)}\n`);
  }
  const more = state.diagnosticCount - state.diagnostics.length;
  if (more > 0) emit(`  and ${more} more; --format events lists them all\n`);
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

function indented(text: string, indent: string): string {
  const lines = printable(text).split("\n");
  return lines.map((line) => `${indent}${line}\n`).join("");
}
