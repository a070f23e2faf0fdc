import { isObject } from "../../data/json.ts";
import { toSnakeCase } from "./loop-stop-reasons.ts";
import type { Fields } from "./state.ts";

/**
 * Translates an event of Strands for TypeScript to the equivalent events of Strands for Python. Undefined if the type
 * is unknown. In TypeScript, blocks have no index, stop reasons are in camel case, and every message is sent six times.
 */
export function translateStrandsTs(type: string, fields: Fields): readonly Fields[] | undefined {
  const { event } = fields;
  if (type === "modelStreamUpdateEvent" && isObject(event)) {
    return typeof event["type"] === "string" ? translateModelEvent(event["type"], event) : [];
  }
  return (
    translateModelEvent(type, fields) ??
    translateAgentEvent(type, fields) ??
    (IGNORED_TYPES.has(type) ? [] : undefined)
  );
}

const IGNORED_TYPES: ReadonlySet<string> = new Set([
  "initializedEvent",
  "afterInvocationEvent",
  "afterModelCallEvent",
  "beforeToolsEvent",
  "beforeToolCallEvent",
  "afterToolCallEvent",
  "toolResultEvent",
  "multiAgentInitializedEvent",
  "afterMultiAgentInvocationEvent",
]);

function translateModelEvent(type: string, fields: Fields): Fields[] | undefined {
  switch (type) {
    case "modelMessageStartEvent":
      return createConverseEvent("messageStart", { role: fields["role"] });
    case "modelContentBlockStartEvent":
      return createConverseEvent("contentBlockStart", { start: translateStart(fields["start"]) });
    case "modelContentBlockDeltaEvent":
      return createConverseEvent("contentBlockDelta", { delta: translateDelta(fields["delta"]) });
    case "modelContentBlockStopEvent":
      return createConverseEvent("contentBlockStop", {});
    case "modelMessageStopEvent":
      return createConverseEvent("messageStop", { stopReason: toStopReason(fields["stopReason"]) });
    case "modelMetadataEvent":
      return createConverseEvent("metadata", {
        usage: fields["usage"],
        metrics: fields["metrics"],
      });
    case "modelRedactionEvent": {
      const { outputRedaction } = fields;
      const text = isObject(outputRedaction) ? outputRedaction["replaceContent"] : undefined;
      return createConverseEvent("redactContent", { redactAssistantContentMessage: text });
    }
    default:
      return undefined;
  }
}

function translateAgentEvent(type: string, fields: Fields): Fields[] | undefined {
  const { message, stopReason, event } = fields;
  switch (type) {
    case "beforeInvocationEvent":
    case "beforeMultiAgentInvocationEvent":
      return [{ init_event_loop: true }];
    case "beforeModelCallEvent":
      return [{ start_event_loop: true }];
    case "contentBlockEvent":
      return translateBlock(fields["contentBlock"]);
    case "modelMessageEvent":
      return [{ message, stop_reason: toStopReason(stopReason) }];
    case "messageAddedEvent":
    case "afterToolsEvent":
      return [{ message: dropPrompt(message) }];
    case "toolStreamUpdateEvent":
      return [{ type: "tool_stream", tool_stream_event: isObject(event) ? event : {} }];
    case "interruptEvent":
      return [{ tool_interrupt_event: fields["interrupt"] ?? {} }];
    case "agentResultEvent":
      return [{ result: fields["result"] }];
    default:
      return undefined;
  }
}

function createConverseEvent(name: string, payload: Fields): Fields[] {
  return [{ event: { [name]: payload } }];
}

function toStopReason(stopReason: unknown): unknown {
  return typeof stopReason === "string" ? toSnakeCase(stopReason) : stopReason;
}

function translateStart(start: unknown): Fields {
  if (!isObject(start)) return {};
  const { type, ...facts } = start;
  return type === "toolUseStart" ? { toolUse: facts } : { [String(type)]: facts };
}

function translateDelta(delta: unknown): Fields {
  if (!isObject(delta)) return {};
  const { type, ...facts } = delta;
  switch (type) {
    case "textDelta":
      return { text: facts["text"] };
    case "toolUseInputDelta":
      return { toolUse: { input: facts["input"] } };
    case "reasoningContentDelta":
      return { reasoningContent: translateReasoning(facts) };
    default:
      return { [String(type)]: facts };
  }
}

/** `JSON.stringify` writes a byte array as an object with the indexes as keys. */
function translateReasoning(facts: Fields): Fields {
  const { redactedContent } = facts;
  if (!isObject(redactedContent)) return facts;
  const bytes = Object.values(redactedContent);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(Number(byte) & 0xff);
  return { ...facts, redactedContent: btoa(binary) };
}

/** Needed for apps which forward only blocks; otherwise a repetition. */
function translateBlock(block: unknown): Fields[] {
  const { text, reasoning } = isObject(block) ? block : {};
  if (typeof text === "string") return [{ data: text, delta: {} }];
  if (!isObject(reasoning)) return [];
  const { text: reasoningText, signature, redactedContent } = reasoning;
  return [
    { reasoningText },
    { reasoning_signature: signature },
    { reasoningRedactedContent: redactedContent },
  ];
}

/** The prompt is reported as an added message too; only tool results are new content. */
function dropPrompt(message: unknown): unknown {
  if (!isObject(message) || message["role"] !== "user") return message;
  const { content } = message;
  if (!Array.isArray(content)) return { ...message, content: [] };
  return {
    ...message,
    content: content.filter((block) => isObject(block) && "toolResult" in block),
  };
}
