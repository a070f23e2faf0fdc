import type { JsonObject } from "../../domain/json.ts";
import type { ModelBlock, ModelMessage } from "../../domain/model-request.ts";
import type { GivenPart, GivenResult } from "../../domain/session-command.ts";
import {
  textOf,
  type AssistantMessage,
  type ChatMessage,
  type InstructionsMessage,
  type ResultMessage,
  type UserMessage,
} from "./chat-message.ts";
import { callIdOf, callNamed, cancelPath } from "../responses/ids.ts";
import type { OpenCalls } from "../responses/request/given-results.ts";
import type { ChatRequest } from "./chat-request.ts";
import { oneSession } from "./read-session-id.ts";
import { refuse } from "./refuse.ts";

/** What of a request is new for the agent, and to which conversation it belongs. */
export interface ChatTurn {
  /** Null where nothing names one: then the conversation is new here. */
  readonly sessionId: string | null;
  /** Everything that the user said since the agent last spoke, in order. */
  readonly said: readonly UserMessage[];
  /** Results of calls that the agent waits for. */
  readonly results: readonly ResultMessage[];
  /** What was said before that, which only a session that does not have it needs. */
  readonly earlier: readonly SpokenMessage[];
  readonly instructions?: string;
  /** What somebody attached to the assistant's last message, to be given back with the next. */
  readonly state: JsonObject;
}

export type SpokenMessage = Exclude<ChatMessage, InstructionsMessage>;

export interface ChatTurnOptions {
  /** The session that a call was made in, by the id that the client has of it; undefined for those of others. */
  readonly sessionOf?: (callId: string) => string | undefined;
  /** Whether the session still has to be opened; where nobody says so, it has if none is named. */
  readonly isNew?: boolean;
}

/** Throws where nothing is new, or what is new belongs nowhere: an old message is never said again. */
export function chatTurn(request: ChatRequest, options: ChatTurnOptions = {}): ChatTurn {
  const { sessionOf } = options;
  const { messages } = request;
  const spoken = messages.filter((message) => message.type !== "instructions");
  const last = spoken.findLastIndex(({ type }) => type === "assistant");
  const answered = lastAnswer(request);
  const since = spoken.slice(last + 1);
  const results = since.filter((message) => message.type === "result");
  checkNew(spoken, since);
  checkResults(results, answered, sessionOf);
  const sessionId = oneSession([
    ...request.sessions,
    ...results.flatMap(({ callId, at }) => {
      const id = sessionOf?.(callId);
      return id === undefined ? [] : [{ id, param: `messages[${at}].tool_call_id` }];
    }),
  ]);
  const told = messages.flatMap((one) => (one.type === "instructions" ? [one.text] : []));
  const instructions = told.filter((text) => text.trim() !== "").join("\n\n");
  const isNew = options.isNew ?? sessionId === null;
  return {
    sessionId,
    ...(isNew ? inNewSession(spoken) : inSession(since, spoken.slice(0, last + 1))),
    ...(instructions !== "" && { instructions }),
    state: answered?.state ?? {},
  };
}

/** What the agent said last, as the client sent it back. */
export function lastAnswer({ messages }: ChatRequest): AssistantMessage | undefined {
  return messages.findLast((message) => message.type === "assistant");
}

function checkNew(spoken: readonly SpokenMessage[], since: readonly SpokenMessage[]): void {
  if (!spoken.some(({ type }) => type === "user" || type === "result")) {
    refuse("messages", "missing_user_message", "messages has none of the user's; say something");
  }
  if (since.length > 0) return;
  const message =
    "The last message is the assistant's, so that nothing is new; say something behind it";
  refuse(`messages[${spoken.at(-1)?.at ?? 0}]`, "no_new_message", message);
}

function checkResults(
  results: readonly ResultMessage[],
  answered: AssistantMessage | undefined,
  sessionOf: ChatTurnOptions["sessionOf"],
): void {
  const made = new Set(answered?.calls.map(({ id }) => id));
  const seen = new Set<string>();
  for (const { callId, at } of results) {
    const param = `messages[${at}].tool_call_id`;
    if (seen.has(callId)) {
      refuse(param, "duplicate_result", `${param} names a call that has its result already`);
    }
    seen.add(callId);
    if (made.has(callId) || sessionOf?.(callId) !== undefined) continue;
    refuse(param, "unknown_call", `${param} names no call of the assistant's last message`);
  }
}

type Split = Pick<ChatTurn, "said" | "results" | "earlier">;

function inSession(since: readonly SpokenMessage[], earlier: readonly SpokenMessage[]): Split {
  const said = since.filter((message) => message.type === "user");
  return { said: said.map(filled), results: since.filter((one) => one.type === "result"), earlier };
}

/** Calls that were made elsewhere are history with their results; something has to follow them. */
function inNewSession(spoken: readonly SpokenMessage[]): Split {
  const start = spoken.findLastIndex(({ type }) => type !== "user") + 1;
  const said = spoken.slice(start).filter((message) => message.type === "user");
  const last = spoken.at(-1);
  if (last?.type === "result") {
    const param = `messages[${last.at}].tool_call_id`;
    refuse(param, "unknown_call", `${param} names a call that was not made here`);
  }
  return { said: said.map(filled), results: [], earlier: spoken.slice(0, start) };
}

function filled(message: UserMessage): UserMessage {
  const { parts, at } = message;
  if (parts.some((part) => part.type !== "text" || part.text.trim() !== "")) return message;
  const param = `messages[${at}].content`;
  return refuse(param, "empty_message", `${param} is empty; give it some text`);
}

/** What the user said, as a session takes it. Whether its agent takes pictures, the session knows. */
export function givenParts(said: readonly UserMessage[]): GivenPart[] {
  return said.flatMap(({ parts }) =>
    parts.some(({ type }) => type === "image") ? parts : [{ type: "text", text: textOf(parts) }],
  );
}

/** The same for an agent that takes text alone: one for each message. */
export function saidTexts(said: readonly UserMessage[]): string[] {
  return said.map(({ parts, at }) => {
    const picture = parts.findIndex(({ type }) => type === "image");
    if (picture === -1) return textOf(parts);
    const param = `messages[${at}].content[${picture}]`;
    return refuse(param, "unsupported_content", `${param} is a picture, and the agent takes text`);
  });
}

/**
 * Results as a session takes them: of all calls that it waits for, each once. Some clients put every result behind its own
 * call, so that those before the last message count where their call is still open.
 */
export function givenResults(
  { earlier, results }: Pick<ChatTurn, "earlier" | "results">,
  { sessionId, toolCallIds, seq }: OpenCalls,
): GivenResult[] {
  const open = ({ callId }: ResultMessage): string | null =>
    callNamed(callId, sessionId, toolCallIds);
  const before = earlier.filter((one) => one.type === "result").filter((one) => open(one) !== null);
  const given = [...before, ...results].map((result): GivenResult => {
    const toolCallId = open(result);
    if (toolCallId !== null) {
      return { toolCallId, parts: [{ type: "text", text: result.text }], isError: false };
    }
    const param = `messages[${result.at}].tool_call_id`;
    return refuse(param, "unknown_call", `${param} names no call that waits for a result`);
  });
  const left = toolCallIds.find((id) => !given.some(({ toolCallId }) => toolCallId === id));
  if (left === undefined) return given;
  const end = seq === undefined ? "" : `, or end the turn: ${cancelPath({ sessionId, seq })}`;
  const message = `The call "${callIdOf(sessionId, left)}" has no result; send those of all open calls${end}`;
  return refuse("messages", "missing_result", message);
}

/** What was said before, for an agent that does not know it. */
export function chatHistory(earlier: readonly SpokenMessage[]): ModelMessage[] {
  return earlier.map((message): ModelMessage => {
    switch (message.type) {
      case "user":
        return { role: "user", blocks: message.parts };
      case "assistant": {
        const calls = message.calls.map((call): ModelBlock => ({ type: "call", call }));
        return { role: "assistant", blocks: [...message.parts, ...calls] };
      }
      case "result": {
        const { callId, text } = message;
        const result = { callId, parts: [{ type: "text", text } as const], isError: false };
        return { role: "user", blocks: [{ type: "result", result }] };
      }
      default:
        return message satisfies never;
    }
  });
}
