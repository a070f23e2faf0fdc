import type { JsonValue } from "../../data/json.ts";
import { randomWebHex } from "../../platform/web-random.ts";
import type { AgentRequest } from "../../wire/acp/client/agent-requests.ts";
import * as encode from "../../wire/acp/client/steering-requests.ts";
import * as read from "../../wire/acp/client/steering-results.ts";
import type { ReadResult } from "../../wire/acp/host/read-result.ts";
import type { ReconnectingConnection } from "../connection/reconnecting-connection.ts";
import type { Client } from "./client.ts";
import { requireReadable, type RequestAgent } from "./request-agent.ts";

type SteeringMethods = Pick<
  Client,
  | "inject"
  | "replaceInject"
  | "revokeInject"
  | "remind"
  | "revokeReminder"
  | "pendingInjections"
  | "resume"
  | "watchFiles"
  | "unwatchFiles"
>;

/** The methods for messages and reminders of a running turn, and for daemons. */
export function createSteeringMethods(
  requestAgent: RequestAgent,
  link: Pick<ReconnectingConnection, "getConnection">,
): SteeringMethods {
  async function send<Value>(
    agentRequest: AgentRequest,
    readResult: (result: JsonValue) => ReadResult<Value>,
  ): Promise<Value> {
    const { agent } = await link.getConnection();
    // An agent that recognizes repeated prompts also recognizes repeated requests with a command id.
    const result = await requestAgent(agentRequest, { repeatable: agent.repeatsPrompts });
    return requireReadable(agentRequest.method, readResult(result));
  }

  return {
    inject(sessionId, message) {
      const injected = typeof message === "string" ? { content: message } : message;
      const request = encode.encodeInjectRequest(sessionId, injected, createCommandId());
      return send(request, read.readInjectResult);
    },
    async replaceInject(sessionId, messageId, content) {
      const request = encode.encodeReplaceInjectRequest(sessionId, messageId, content);
      await send(request, read.readInjectionStatus);
    },
    revokeInject: (sessionId, messageId) =>
      send(encode.encodeRevokeInjectRequest(sessionId, messageId), readRevocation),
    remind(sessionId, reminder) {
      const options = typeof reminder === "string" ? { body: reminder } : reminder;
      const request = encode.encodeRemindRequest(sessionId, options, createCommandId());
      return send(request, read.readReminderResult);
    },
    revokeReminder: (sessionId, reminderId) =>
      send(encode.encodeRevokeReminderRequest(sessionId, reminderId), readRevocation),
    pendingInjections: (sessionId) =>
      send(encode.encodePendingInjectionsRequest(sessionId), read.readPendingInjections),
    watchFiles: (sessionId, files = {}) =>
      send(
        encode.encodeWatchFilesRequest(sessionId, files, createCommandId()),
        read.readSubscriptionResult,
      ),
    async unwatchFiles(sessionId, subscriptionId) {
      await requestAgent(encode.encodeUnwatchFilesRequest(sessionId, subscriptionId));
    },
    async resume(sessionId) {
      await requestAgent(encode.encodeResumeRequest(sessionId, createCommandId()));
    },
  };
}

/** True if this request revoked the injection. False if it was already revoked. */
function readRevocation(result: JsonValue): ReadResult<boolean> {
  const status = read.readInjectionStatus(result);
  return status.ok ? { ok: true, value: status.value === "revoked" } : status;
}

function createCommandId(): string {
  return randomWebHex(16);
}
