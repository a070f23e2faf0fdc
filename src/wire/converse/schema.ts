/** The object behind a member of the event union, before its fields are looked at. */
export type Fields = { readonly [name: string]: unknown };

/** A structure of the wire and the fields of it that we read. */
export interface Shape {
  readonly name: string;
  readonly fields: ReadonlySet<string>;
  /** How many different values of one unknown field are kept in a stream: 1 where every delta may have another. */
  readonly keptValues: number;
}

export const USAGE_COUNTS = [
  "inputTokens",
  "outputTokens",
  "cacheReadInputTokens",
  "cacheWriteInputTokens",
  "totalTokens",
] as const;

export const MESSAGE_START = shape("messageStart", "role");
export const MESSAGE_STOP = shape("messageStop", "stopReason");
export const CONTENT_BLOCK_START = shape("contentBlockStart", "contentBlockIndex", "start");
export const CONTENT_BLOCK_DELTA = shape("contentBlockDelta", "contentBlockIndex", "delta");
export const CONTENT_BLOCK_STOP = shape("contentBlockStop", "contentBlockIndex");
export const METADATA = rareShape("metadata", "usage", "metrics");
export const METADATA_USAGE = rareShape("metadata.usage", ...USAGE_COUNTS);
export const METADATA_METRICS = rareShape("metadata.metrics", "latencyMs");
export const HOOK_EVENT = shape("hookEvent", "hookEventId", "name", "type", "decision", "reason");
export const TOOL_USE = shape("toolUse", "toolUseId", "name", "type", "serverName");
export const TOOL_RESULT = shape("toolResult", "toolUseId", "status", "type");
export const TOOL_USE_DELTA = shape("toolUse", "input");
/** The parts of a result; `type` only repeats which of the other fields a part has. */
export const TEXT_PART = rareShape("toolResult.content", "text", "type");
export const JSON_PART = rareShape("toolResult.content", "json", "type");
export const TOOL_RESULT_METADATA = rareShape("toolResultMetadata", "metadata");
export const REASONING = shape("reasoningContent", "text", "signature", "redactedContent");

/** Events without which a turn has a hole. */
export const CARRIES_THE_TURN: ReadonlySet<string> = new Set([
  MESSAGE_START.name,
  CONTENT_BLOCK_START.name,
  CONTENT_BLOCK_DELTA.name,
  CONTENT_BLOCK_STOP.name,
  MESSAGE_STOP.name,
]);

export const EVENT_NAMES: ReadonlySet<string> = new Set([
  ...CARRIES_THE_TURN,
  METADATA.name,
  HOOK_EVENT.name,
]);

/** Exceptions that a decoded capture holds as plain members of the event union. */
export function isExceptionName(name: string): boolean {
  return name.endsWith("Exception") || name === "runtimeClientError";
}

/** `p` is padding, by which Bedrock hides the length of what it says. */
function shape(name: string, ...fields: readonly string[]): Shape {
  return { name, fields: new Set([...fields, "p"]), keptValues: 1 };
}

/** A structure that comes about once in a model call: what differs from one to the next, such as a count, is kept. */
function rareShape(name: string, ...fields: readonly string[]): Shape {
  return { ...shape(name, ...fields), keptValues: 64 };
}
