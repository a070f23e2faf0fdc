import { copyString } from "../../../text/text-builder.ts";
import { readPythonDict, type PythonDict, type PythonValue } from "./python-literal.ts";
import type { Fields } from "../state.ts";

/**
 * - `event`: the fields of the event in the repr.
 * - `lost`: the repr of an agent's event which cannot be read.
 * - `text`: not a repr.
 */
export type RecoveredRepr =
  | { readonly type: "event"; readonly fields: Fields }
  | { readonly type: "lost"; readonly key: string; readonly reason: string }
  | { readonly type: "text" };

/**
 * Reads the event in a Python repr. The serializer of AgentCore falls back to `repr()` for any event with a value
 * without a JSON form. A model may write similar text itself, so a repr is accepted only with a known first key and a
 * value without a JSON form.
 */
export function recoverRepr(text: string): RecoveredRepr {
  const key = FIRST_KEY.exec(text)?.[1] ?? "";
  if (!KNOWN_KEYS.has(key) && !STATE_KEYS.has(key)) {
    // Text with object addresses is a dump, with any first key: people and models do not write addresses.
    if (!OBJECT_DUMP.test(text)) return TEXT;
    return { type: "lost", key: key || "object", reason: "Its first key is unknown" };
  }
  const requestedKeys = REQUESTED_KEYS.get(key);
  const reading = readPythonDict(text, requestedKeys === undefined ? {} : { requestedKeys });
  if (reading.ok)
    return reading.hasForeignValues ? { type: "event", fields: toPlainObject(reading.dict) } : TEXT;
  return FOREIGN_MARK.test(text) ? { type: "lost", key, reason: reading.reason } : TEXT;
}

const TEXT = { type: "text" } as const;
const FIRST_KEY = /^\{['"](\w+)['"]: /;
const OBJECT_DUMP = /^(?:\{['"]|[A-Z]\w*\().{0,2000}? object at 0x[0-9a-fA-F]+>/s;
const FOREIGN_MARK =
  / object at 0x[0-9a-fA-F]+|: [A-Za-z_][\w.]*\(|AgentResult\(|Span\(|[ [{(]b['"]/;

const KNOWN_KEYS: ReadonlySet<string> = new Set([
  "event",
  "message",
  "result",
  "data",
  "delta",
  "type",
  "reasoning",
  "reasoningText",
  "reasoning_signature",
  "reasoningRedactedContent",
  "citation",
  "current_tool_use",
  "init_event_loop",
  "start",
  "start_event_loop",
  "event_loop_throttled_delay",
  "tool_stream_event",
  "tool_cancel_event",
  "tool_interrupt_event",
  "tool_name",
  "structured_output",
  "force_stop",
  "error",
]);

/**
 * Keys of the loop state, which Strands merges into events. From the second cycle on, the state contains the whole
 * conversation.
 */
const STATE_KEYS: ReadonlySet<string> = new Set([
  "agent",
  "event_loop_cycle_id",
  "event_loop_cycle_trace",
  "event_loop_cycle_span",
  "event_loop_parent_cycle_id",
  "event_loop_parent_span",
  "request_state",
  "model",
  "messages",
  "system_prompt",
  "tool_config",
]);

const MERGED_KEYS = [
  "data",
  "reasoningText",
  "reasoning_signature",
  "reasoningRedactedContent",
] as const;

/** The keys after which reading stops: the rest of the line is state. */
const REQUESTED_KEYS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...["event", "message", "result"].map((key) => [key, new Set([key])] as const),
  ...MERGED_KEYS.map((key) => [key, new Set([key, "event_loop_cycle_id"])] as const),
]);

/** Converts a dict to a plain object, without the loop state and without opaque objects. */
function toPlainObject(dict: PythonDict): Fields {
  const object: { [name: string]: unknown } = {};
  const isMerged = dict.has("event_loop_cycle_id");
  for (const [key, value] of dict) {
    if (isMerged && STATE_KEYS.has(key) && key !== "event_loop_cycle_id") continue;
    const member = toPlainValue(value);
    if (member === undefined) continue;
    // An assignment to `__proto__` would set the prototype instead of a key.
    Object.defineProperty(object, key, {
      value: member,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return object;
}

function toPlainValue(value: PythonValue): unknown {
  if (typeof value === "string") return copyString(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Map) return toPlainObject(value);
  if (Array.isArray(value)) return value.map(toPlainValue).filter((item) => item !== undefined);
  if (!("kind" in value)) return undefined;
  switch (value.kind) {
    case "bytes":
      return value.base64;
    case "opaque":
      // An enum shows its value: `<Status.COMPLETED: 'completed'>`.
      return /^<[\w.]+: '(\w*)'>$/.exec(value.text)?.[1];
    case "call": {
      const [first] = value.positional;
      return value.keywords.size === 0 && first !== undefined
        ? toPlainValue(first)
        : toPlainObject(value.keywords);
    }
    default:
      return value satisfies never;
  }
}
