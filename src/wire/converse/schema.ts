/** The object behind a member of the event union, before its fields are looked at. */
export type Fields = { readonly [name: string]: unknown };

/** A structure of the wire and the fields of it that we read. */
export interface Shape {
  readonly name: string;
  readonly fields: ReadonlySet<string>;
  /** How many different values of one unknown field are kept in a stream: 1 where every delta may have another. */
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
/** The parts of a result; `type` only repeats which of the other fields a part has. */
export const TEXT_PART = createRareShape("toolResult.content", "text", "type");
export const JSON_PART = createRareShape("toolResult.content", "json", "type");
export const TOOL_RESULT_METADATA = createRareShape("toolResultMetadata", "metadata");
export const REASONING = createShape("reasoningContent", "text", "signature", "redactedContent");

/** Events without which a turn has a hole. */
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

/** Exceptions that a decoded capture holds as plain members of the event union. */
export function isExceptionName(name: string): boolean {
  return name.endsWith("Exception") || name === "runtimeClientError";
}

/** `p` is padding, by which Bedrock hides the length of what it says. */
function createShape(name: string, ...fields: readonly string[]): Shape {
  return { name, fields: new Set([...fields, "p"]), maxValues: 1 };
}

/** A structure that comes about once in a model call: what differs from one to the next, such as a count, is kept. */
function createRareShape(name: string, ...fields: readonly string[]): Shape {
  return { ...createShape(name, ...fields), maxValues: 64 };
}
