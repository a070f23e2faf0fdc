import { copyString } from "../../../text/text-builder.ts";
import { readPythonDict, type PythonDict, type PythonValue } from "./python-literal.ts";
import type { Fields } from "../state.ts";

/**
 * - `event`: what the repr carries.
 * - `lost`: it is the repr of an agent's event, but cannot be read.
 * - `text`: it only looks like one.
 */
export type RecoveredRepr =
  | { readonly type: "event"; readonly fields: Fields }
  | { readonly type: "lost"; readonly key: string; readonly reason: string }
  | { readonly type: "text" };

/**
 * Reads the event out of a Python repr, which the serialiser of AgentCore falls back to for any event that holds one
 * value without a JSON form. A model may write such text itself: a repr has a first key that we know, and somewhere
 * the value that made it a repr.
 */
export function recoverRepr(text: string): RecoveredRepr {
  const key = FIRST_KEY.exec(text)?.[1] ?? "";
  if (!KNOWN_KEYS.has(key) && !STATE_KEYS.has(key)) {
    // Nobody writes the addresses of objects; what has them is a dump, whatever it begins with.
    if (!OBJECT_DUMP.test(text)) return TEXT;
    return { type: "lost", key: key || "object", reason: "It begins with nothing known" };
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

/** The state of the loop, which Strands merges into events: the whole conversation, from the second cycle on. */
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

/** Where to stop reading: the rest of the line is state. */
const REQUESTED_KEYS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...["event", "message", "result"].map((key) => [key, new Set([key])] as const),
  ...MERGED_KEYS.map((key) => [key, new Set([key, "event_loop_cycle_id"])] as const),
]);

/** As JSON would have it, without the state of the loop and without objects that cannot be read. */
function toPlainObject(dict: PythonDict): Fields {
  const object: { [name: string]: unknown } = {};
  const isMerged = dict.has("event_loop_cycle_id");
  for (const [key, value] of dict) {
    if (isMerged && STATE_KEYS.has(key) && key !== "event_loop_cycle_id") continue;
    const member = toPlainValue(value);
    if (member === undefined) continue;
    // A plain assignment to `__proto__` would be no key.
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
      // An enum says its value: `<Status.COMPLETED: 'completed'>`.
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
