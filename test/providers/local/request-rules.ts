import type { JsonObject } from "../../../src/data/json.ts";
import type { ConverseModelRequest } from "../../../src/wire/converse/request.ts";

interface ChatBody {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly object[];
}

interface ChatMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

/** The rules of chat completions, from the reference and from refusals of servers. */
export function checkChat(body: JsonObject): void {
  const { messages, tools = [] }: ChatBody = JSON.parse(JSON.stringify(body));
  const conversation = messages.filter(({ role }) => role !== "system");
  must(conversation[0]?.role === "user", "the user begins");
  must(["user", "tool"].includes(conversation.at(-1)?.role ?? ""), "the model is asked last");
  const ids = new Set<string>();
  let awaited: string[] = [];
  let before = "";
  for (const message of conversation) {
    const { role, content, tool_calls: calls = [], tool_call_id: id } = message;
    if (role === "tool") {
      must(awaited.shift() === id, "results come once, in the order of their calls");
      must(typeof content === "string" && content !== "", "a result says something");
    } else {
      must(awaited.length === 0, "every tool call has its result before any other message");
      must(role !== before, "no role has two messages in a row");
    }
    if (role === "user") must(content !== null && content.trim() !== "", "no blank words");
    if (role === "assistant") {
      must(content !== null || calls.length > 0, "an assistant says or calls something");
      must(content === null || content.trim() !== "", "no blank words");
      for (const call of calls) {
        must(!ids.has(call.id), "ids differ");
        ids.add(call.id);
        checkName(call.function.name);
        must(isPlainObject(JSON.parse(call.function.arguments)), "arguments are an object");
      }
      awaited = calls.map((call) => call.id);
    }
    before = role === "tool" ? "" : role;
  }
  must(awaited.length === 0, "every call is answered");
  must(ids.size === 0 || tools.length > 0, "where there are calls there are tools");
}

type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly kind: "result"; readonly id: string }
  | { readonly kind: "thought"; readonly isSealed: boolean };

interface Message {
  readonly role: string;
  readonly parts: readonly Part[];
}

interface MessagesBody {
  readonly messages: readonly {
    readonly role: string;
    readonly content: readonly MessagesPart[];
  }[];
  readonly tools?: readonly object[];
}

type MessagesPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      readonly input: unknown;
    }
  | { readonly type: "tool_result"; readonly tool_use_id: string }
  | { readonly type: "thinking"; readonly signature?: string }
  | { readonly type: "redacted_thinking"; readonly data?: string };

/** The rules of the Messages API; Converse has the same rules with other field names. */
export function checkMessages(body: JsonObject): void {
  const { messages, tools = [] }: MessagesBody = JSON.parse(JSON.stringify(body));
  const read = messages.map(({ role, content }) => ({ role, parts: content.map(messagesPart) }));
  checkAlternating(read, tools);
}

function messagesPart(part: MessagesPart): Part {
  switch (part.type) {
    case "text":
      return { kind: "text", text: part.text };
    case "tool_use":
      return { kind: "call", id: part.id, name: part.name, input: part.input };
    case "tool_result":
      return { kind: "result", id: part.tool_use_id };
    case "thinking":
      return { kind: "thought", isSealed: part.signature !== undefined };
    case "redacted_thinking":
      return { kind: "thought", isSealed: part.data !== undefined };
    default:
      return part satisfies never;
  }
}

interface ConversePart {
  readonly text?: string;
  readonly toolUse?: { readonly toolUseId: string; readonly name: string; readonly input: unknown };
  readonly toolResult?: { readonly toolUseId: string };
}

interface ConverseBody {
  readonly messages: readonly {
    readonly role: string;
    readonly content: readonly ConversePart[];
  }[];
  readonly toolConfig?: { readonly tools: readonly object[] };
}

export function checkConverse(body: ConverseModelRequest): void {
  const { messages, toolConfig }: ConverseBody = JSON.parse(JSON.stringify(body));
  const read = messages.map(({ role, content }) => ({ role, parts: content.map(conversePart) }));
  checkAlternating(read, toolConfig?.tools ?? []);
}

function conversePart({ text, toolUse, toolResult }: ConversePart): Part {
  if (text !== undefined) return { kind: "text", text };
  if (toolResult !== undefined) return { kind: "result", id: toolResult.toolUseId };
  if (toolUse === undefined) return { kind: "thought", isSealed: true };
  return { kind: "call", id: toolUse.toolUseId, name: toolUse.name, input: toolUse.input };
}

function checkAlternating(messages: readonly Message[], tools: readonly object[]): void {
  must(messages[0]?.role === "user", "the user begins");
  must(messages.at(-1)?.role === "user", "the model is asked last");
  const ids = new Set<string>();
  let awaited: string[] = [];
  let before = "";
  for (const { role, parts } of messages) {
    must(role !== before, "roles alternate");
    before = role;
    must(parts.length > 0, "a message says something");
    const results = parts.flatMap((part) => (part.kind === "result" ? [part.id] : []));
    must(
      JSON.stringify(results) === JSON.stringify(awaited),
      "every call is answered once, in order, in the next message, and nothing else is",
    );
    must(
      parts.slice(0, results.length).every(({ kind }) => kind === "result"),
      "results come before words",
    );
    awaited = [];
    for (const part of parts) {
      if (part.kind === "text") must(part.text.trim() !== "", "no blank words");
      if (part.kind === "thought") {
        must(role === "assistant" && part.isSealed, "only sealed thoughts go back");
      }
      if (part.kind !== "call") continue;
      must(role === "assistant", "only the assistant calls");
      must(/^[a-zA-Z0-9_-]{1,64}$/.test(part.id) && !ids.has(part.id), "ids are plain and differ");
      ids.add(part.id);
      checkName(part.name);
      must(isPlainObject(part.input), "arguments are an object");
      awaited.push(part.id);
    }
    must(parts.at(-1)?.kind !== "thought", "a thought is not the last word");
  }
  must(awaited.length === 0, "every call is answered");
  must(ids.size === 0 || tools.length > 0, "where there are calls there are tools");
}

function checkName(name: string): void {
  must(/^[a-zA-Z0-9_-]{1,64}$/.test(name), "names are plain");
}

function isPlainObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function must(isSo: boolean, rule: string): void {
  if (!isSo) throw new Error(`Broken: ${rule}`);
}
