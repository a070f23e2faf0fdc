import type { ErrorCode } from "../../domain/errors.ts";
import { isObject, jsonText, type JsonObject } from "../../domain/json.ts";
import {
  fileTextAnswer,
  fileWrittenAnswer,
  readFileRequest,
  writeFileRequest,
} from "../../wire/acp/host/editor-calls.ts";
import type { HostAnswer } from "../../wire/acp/host/host-answer.ts";
import { toolCallRequest, type HostRequest } from "../../wire/acp/host/host-request.ts";
import { readToolResult } from "../../wire/acp/host/host-tools.ts";
import type { RpcAnswer } from "../../wire/jsonrpc/rpc-message.ts";
import type { ClientLink } from "./client-link.ts";

/** Something that the client's machine is at. */
export interface HostWork {
  /** Its answer is no longer wanted. */
  stop(): void;
}

export interface HostPlace {
  readonly sessionId: string;
  readonly link: ClientLink;
  readonly answered: (given: HostAnswered) => Promise<void>;
}

/** Undefined where the client has too much to do. */
export type BeginWork = (place: HostPlace) => HostWork | undefined;

export interface HostAnswered {
  readonly outcome: "answered" | "failed";
  readonly payload: JsonObject;
}

/** What a session asks for by one request and its answer; undefined for what nobody knows. */
export function hostWork(kind: string, payload: JsonObject): BeginWork | undefined {
  const { name, input, toolCallId, attempt, path, content } = payload;
  switch (kind) {
    case "tool":
      if (typeof name !== "string" || typeof toolCallId !== "string") return undefined;
      if (!isObject(input)) return undefined;
      return callTool({ name, input, toolCallId, ...(typeof attempt === "number" && { attempt }) });
    case "read-file":
      return typeof path === "string" ? readFile(path) : undefined;
    case "write-file":
      if (typeof path !== "string" || typeof content !== "string") return undefined;
      return writeFile(path, content);
    default:
      return undefined;
  }
}

interface ToolCall {
  readonly name: string;
  readonly input: JsonObject;
  readonly toolCallId: string;
  readonly attempt?: number;
}

function callTool({ name, input, ...call }: ToolCall): BeginWork {
  return (place) =>
    asked(toolCallRequest(name, input, { sessionId: place.sessionId, ...call }), place, (given) =>
      toolAnswer(name, given),
    );
}

/** The editor may not know the file, or not be able to say: then the session has the disk. */
function readFile(path: string): BeginWork {
  return (place) =>
    asked(readFileRequest(place.sessionId, path), place, (given) =>
      answerOf(fileTextAnswer(given), (text) => ({ text })),
    );
}

function writeFile(path: string, content: string): BeginWork {
  return (place) =>
    asked(writeFileRequest(place.sessionId, path, content), place, (given) =>
      answerOf(fileWrittenAnswer(given), (written) => ({ written })),
    );
}

function asked(
  request: HostRequest,
  { link, answered }: HostPlace,
  read: (answer: RpcAnswer) => HostAnswered,
): HostWork | undefined {
  const questionId = link.request(request, (given) => answered(read(given)));
  return questionId === undefined ? undefined : { stop: () => link.withdraw(questionId) };
}

/** What is not supported did not happen, and is no failure. */
export function answerOf<Value>(
  answer: HostAnswer<Value>,
  payloadOf: (value: Value) => JsonObject,
): HostAnswered {
  switch (answer.type) {
    case "answered":
      return { outcome: "answered", payload: payloadOf(answer.value) };
    case "failed":
      return failed(answer.failure.message, answer.failure.code);
    case "unsupported":
      return { outcome: "answered", payload: { unsupported: true } };
  }
}

function toolAnswer(name: string, given: RpcAnswer): HostAnswered {
  const result = readToolResult(name, given);
  if (result.type === "unsupported") return failed(`The host does not know ${name}`);
  return result.type === "answered" && jsonText(result.value).length > MOST_ANSWERED
    ? failed(`${name} gave more than ${MOST_ANSWERED} characters; ask for less of it`)
    : answerOf(result, (value) => ({ result: value }));
}

export function failed(message: string, code: ErrorCode = "host_failed"): HostAnswered {
  const known = code === "outcome_unknown" ? { code } : {};
  return { outcome: "failed", payload: { message, ...known } };
}

/** Characters. The log keeps it, and the model reads it. */
const MOST_ANSWERED = 1024 * 1024;
