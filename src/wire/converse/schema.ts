/** The payload of a union member before its fields are validated. */
export type Fields = { readonly [name: string]: unknown };

/** A structure of the wire format and the fields known to this version. */
export interface Shape {
  readonly name: string;
  readonly fields: ReadonlySet<string>;
  /**
   * How many different values of one unknown field are kept per stream. 1 for deltas, because every delta may have a
   * new value.
   */
  readonly maxValues: number;
}

export const USAGE_COUNTS = [
  "inputTokens",
  "outputTokens",
  "cacheReadInputTokens",
  "cacheWriteInputTokens",
  "totalTokens",
] as const;

export const MESSAGE_START = createShape("messageStart", "role");
export const MESSAGE_STOP = createShape("messageStop", "stopReason");
export const CONTENT_BLOCK_START = createShape("contentBlockStart", "contentBlockIndex", "start");
export const CONTENT_BLOCK_DELTA = createShape("contentBlockDelta", "contentBlockIndex", "delta");
export const CONTENT_BLOCK_STOP = createShape("contentBlockStop", "contentBlockIndex");
export const METADATA = createRareShape("metadata", "usage", "metrics");
export const METADATA_USAGE = createRareShape("metadata.usage", ...USAGE_COUNTS);
export const METADATA_METRICS = createRareShape("metadata.metrics", "latencyMs");
export const HOOK_EVENT = createShape(
  "hookEvent",
  "hookEventId",
  "name",
  "type",
  "decision",
  "reason",
);
export const TOOL_USE = createShape("toolUse", "toolUseId", "name", "type", "serverName");
export const TOOL_RESULT = createShape("toolResult", "toolUseId", "status", "type");
export const TOOL_USE_DELTA = createShape("toolUse", "input");
/** The parts of a tool result. `type` only repeats the name of the field with the content. */
export const TEXT_PART = createRareShape("toolResult.content", "text", "type");
export const JSON_PART = createRareShape("toolResult.content", "json", "type");
export const TOOL_RESULT_METADATA = createRareShape("toolResultMetadata", "metadata");
export const REASONING = createShape("reasoningContent", "text", "signature", "redactedContent");

/** Events with the content of a turn. An unreadable event of this set fails the turn, because content is missing. */
export const TURN_EVENT_NAMES: ReadonlySet<string> = new Set([
  MESSAGE_START.name,
  CONTENT_BLOCK_START.name,
  CONTENT_BLOCK_DELTA.name,
  CONTENT_BLOCK_STOP.name,
  MESSAGE_STOP.name,
]);

export const EVENT_NAMES: ReadonlySet<string> = new Set([
  ...TURN_EVENT_NAMES,
  METADATA.name,
  HOOK_EVENT.name,
]);

/** Returns whether the name is an exception which a decoded capture contains as a member of the event union. */
export function isExceptionName(name: string): boolean {
  return name.endsWith("Exception") || name === "runtimeClientError";
}

/** `p` is padding: Bedrock uses this field to hide the length of its output. */
function createShape(name: string, ...fields: readonly string[]): Shape {
  return { name, fields: new Set([...fields, "p"]), maxValues: 1 };
}

/** A structure sent about once per model call. Differing values, such as counts, are kept up to 64 per field. */
function createRareShape(name: string, ...fields: readonly string[]): Shape {
  return { ...createShape(name, ...fields), maxValues: 64 };
}
