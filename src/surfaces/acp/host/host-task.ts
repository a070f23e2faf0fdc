import type { ErrorCode } from "../../../domain/errors.ts";
import { isObject, toJsonText, type JsonObject } from "../../../data/json.ts";
import {
  readFileTextReply,
  readFileWrittenReply,
  encodeReadFileRequest,
  encodeWriteFileRequest,
} from "../../../wire/acp/host/editor-messages.ts";
import type { HostReply } from "../../../wire/acp/host/host-reply.ts";
import { encodeToolCallRequest, type HostRequest } from "../../../wire/acp/host/host-request.ts";
import { readToolResult } from "../../../wire/acp/host/host-tool-list.ts";
import { encodeSkill } from "../../../wire/acp/host/skill-messages.ts";
import { encodeSkillFetchRequest, readSkill } from "../../../wire/acp/host/skill-replies.ts";
import { formatValue } from "../../../text/format-value.ts";
import type { RpcResponse } from "../../../wire/jsonrpc/rpc-message.ts";
import type { ClientLink } from "../connection/client-link.ts";

/** A task in progress on the client's machine. */
export interface HostTask {
  /** Withdraws the request; its reply is no longer needed. */
  stop(): void;
}

export interface HostTaskContext {
  readonly sessionId: string;
  readonly link: ClientLink;
  readonly submitOutcome: (outcome: HostOutcome) => Promise<void>;
}

/** Starts a task. Returns undefined if the client has too many open requests. */
export type StartHostTask = (context: HostTaskContext) => HostTask | undefined;

export interface HostOutcome {
  readonly outcome: "replied" | "failed";
  readonly payload: JsonObject;
}

/**
 * Creates the task for a request kind with one request and one reply. Undefined if the kind is unknown or the payload
 * is not valid.
 */
export function createHostTask(kind: string, payload: JsonObject): StartHostTask | undefined {
  const { name, input, toolCallId, attempt, path, content, skillId } = payload;
  switch (kind) {
    case "tool":
      if (typeof name !== "string" || typeof toolCallId !== "string") return undefined;
      if (!isObject(input)) return undefined;
      return createToolTask({
        name,
        input,
        toolCallId,
        ...(typeof attempt === "number" && { attempt }),
      });
    case "skill":
      return typeof skillId === "string" ? createSkillTask(skillId) : undefined;
    case "read-file":
      return typeof path === "string" ? createReadFileTask(path) : undefined;
    case "write-file":
      if (typeof path !== "string" || typeof content !== "string") return undefined;
      return createWriteFileTask(path, content);
    default:
      return undefined;
  }
}

interface HostToolCall {
  readonly name: string;
  readonly input: JsonObject;
  readonly toolCallId: string;
  readonly attempt?: number;
}

function createToolTask({ name, input, ...call }: HostToolCall): StartHostTask {
  return (context) =>
    startRequest(
      encodeToolCallRequest(name, input, { sessionId: context.sessionId, ...call }),
      context,
      (response) => readToolOutcome(name, response),
    );
}

function createSkillTask(skillId: string): StartHostTask {
  return (context) =>
    startRequest(encodeSkillFetchRequest(skillId), context, (response) => {
      const reply = readSkill(response);
      if (reply.type === "unsupported")
        return createFailedOutcome(`The host does not have the skill ${formatValue(skillId)}`);
      return reply.type === "answered" && reply.value.body.length > MAX_RESULT_CHARACTERS
        ? createFailedOutcome(
            `The skill ${formatValue(skillId)} has more than ${MAX_RESULT_CHARACTERS} characters`,
          )
        : toHostOutcome(reply, (skill) => ({ skill: encodeSkill(skill) }));
    });
}

/**
 * Reads a file through the editor. If the editor does not know the file or does not support reading, the session reads
 * from the disk.
 */
function createReadFileTask(path: string): StartHostTask {
  return (context) =>
    startRequest(encodeReadFileRequest(context.sessionId, path), context, (response) =>
      toHostOutcome(readFileTextReply(response), (text) => ({ text })),
    );
}

function createWriteFileTask(path: string, content: string): StartHostTask {
  return (context) =>
    startRequest(encodeWriteFileRequest(context.sessionId, path, content), context, (response) =>
      toHostOutcome(readFileWrittenReply(response), (written) => ({ written })),
    );
}

function startRequest(
  request: HostRequest,
  { link, submitOutcome }: HostTaskContext,
  read: (answer: RpcResponse) => HostOutcome,
): HostTask | undefined {
  const requestKey = link.sendRequest(request, (response) => submitOutcome(read(response)));
  return requestKey === undefined ? undefined : { stop: () => link.withdrawRequest(requestKey) };
}

/**
 * Converts a host's reply to the session's outcome. An unsupported method had no effect, so it is not reported as a
 * failure.
 */
export function toHostOutcome<Value>(
  answer: HostReply<Value>,
  toPayload: (value: Value) => JsonObject,
): HostOutcome {
  switch (answer.type) {
    case "answered":
      return { outcome: "replied", payload: toPayload(answer.value) };
    case "failed":
      return createFailedOutcome(answer.failure.message, answer.failure.code);
    case "unsupported":
      return { outcome: "replied", payload: { unsupported: true } };
  }
}

function readToolOutcome(name: string, response: RpcResponse): HostOutcome {
  const result = readToolResult(name, response);
  if (result.type === "unsupported")
    return createFailedOutcome(`The host does not have the tool ${name}`);
  return result.type === "answered" && toJsonText(result.value).length > MAX_RESULT_CHARACTERS
    ? createFailedOutcome(
        `${name} returned more than ${MAX_RESULT_CHARACTERS} characters. Fix: request a smaller part`,
      )
    : toHostOutcome(result, (value) => ({ result: value }));
}

export function createFailedOutcome(message: string, code: ErrorCode = "host_failed"): HostOutcome {
  const codeField = code === "outcome_unknown" ? { code } : {};
  return { outcome: "failed", payload: { message, ...codeField } };
}

/** Characters. Limits the result because the log stores it and the model reads it. */
const MAX_RESULT_CHARACTERS = 1024 * 1024;
