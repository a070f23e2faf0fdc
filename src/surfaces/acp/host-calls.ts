import type { HostRequested } from "../../domain/agent-event.ts";
import type { Envelope } from "../../domain/envelope.ts";
import { isObject, jsonText, type JsonObject } from "../../domain/json.ts";
import { toolCallRequest, type HostRequest } from "../../wire/acp/host/host-request.ts";
import { readToolResult } from "../../wire/acp/host/host-tools.ts";
import type { RpcAnswer } from "../../wire/jsonrpc/rpc-message.ts";
import type { ClientLink } from "./client-link.ts";

/** What a session asks of the machine of one of its clients, brought to it, and its answers brought back. */
export interface HostCalls {
  /** An event of the session, in its place. */
  take(envelope: Envelope): void;
  /** Nothing before this place is answered further on: what is still open is put to the client. */
  caughtUp(seq: number): void;
}

type Answer = { readonly outcome: "answered" | "failed"; readonly payload: JsonObject };

export function hostCalls(sessionId: string, link: ClientLink): HostCalls {
  const { sessions, log } = link;
  const wanted = new Map<string, HostRequested>();
  /** The questions to the client, by the session's requests. */
  const open = new Map<string, string>();
  let done = 0;

  async function answer(requestId: string, given: Answer): Promise<void> {
    open.delete(requestId);
    const command = { type: "answer-host", requestId, ...given } as const;
    const reply = await sessions.command(sessionId, command, link.sender);
    if (reply.status === "accepted") return;
    log("an answer of the client's machine was refused", { sessionId, code: reply.failure.code });
  }

  function put({ requestId, kind, payload }: HostRequested): void {
    const call = readCall(kind, payload);
    const refuse = (message: string): void => {
      answer(requestId, failed(message)).catch((error: unknown) =>
        log("a request to the client's machine was lost", { sessionId, error: String(error) }),
      );
    };
    if (call === undefined) return refuse("This client's machine cannot be asked for that");
    const questionId = link.request(requestFor(sessionId, call), (given) =>
      answer(requestId, toolAnswer(call.name, given)),
    );
    if (questionId === undefined) return refuse("Too much is asked of this client at once");
    open.set(requestId, questionId);
  }

  return {
    take({ seq, event }) {
      if (event.type === "host.answered") {
        wanted.delete(event.requestId);
        const questionId = open.get(event.requestId);
        open.delete(event.requestId);
        // Nobody waits for it any more: the turn was cancelled, or it took too long.
        if (questionId !== undefined) link.withdraw(questionId, sessionId);
      }
      // A client that follows a session again has been asked what was there before.
      if (event.type !== "host.requested" || seq <= done) return;
      if (event.clientId === link.sender.clientId) wanted.set(event.requestId, event);
    },
    caughtUp(seq) {
      done = Math.max(done, seq);
      for (const request of wanted.values()) put(request);
      wanted.clear();
    },
  };
}

interface ToolCall {
  readonly name: string;
  readonly input: JsonObject;
  readonly toolCallId: string;
}

function readCall(kind: string, { name, input, toolCallId }: JsonObject): ToolCall | undefined {
  if (kind !== "tool" || typeof name !== "string" || typeof toolCallId !== "string") {
    return undefined;
  }
  return isJsonObject(input) ? { name, input, toolCallId } : undefined;
}

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

function requestFor(sessionId: string, { name, input, toolCallId }: ToolCall): HostRequest {
  return toolCallRequest(name, input, { sessionId, toolCallId });
}

function toolAnswer(name: string, given: RpcAnswer): Answer {
  const result = readToolResult(name, given);
  switch (result.type) {
    case "answered":
      return jsonText(result.value).length > MOST_ANSWERED
        ? failed(`${name} gave more than ${MOST_ANSWERED} characters; ask for less of it`)
        : { outcome: "answered", payload: { result: result.value } };
    case "failed":
      return failed(result.failure.message);
    case "unsupported":
      return failed(`The host does not know ${name}`);
  }
}

function failed(message: string): Answer {
  return { outcome: "failed", payload: { message } };
}

/** Characters. The log keeps it, and the model reads it. */
const MOST_ANSWERED = 1024 * 1024;
