import type { JsonValue } from "../../data/json.ts";
import { randomWebHex } from "../../platform/web-random.ts";
import type { AgentRequest } from "../../wire/acp/client/agent-requests.ts";
import * as messages from "../../wire/acp/client/worker-messages.ts";
import type { ReadResult } from "../../wire/acp/host/read-result.ts";
import type { ReconnectingConnection } from "../connection/reconnecting-connection.ts";
import type { Client } from "./client.ts";
import { requireReadable, type RequestAgent } from "./request-agent.ts";

type WorkerMethods = Pick<Client, "delegate" | "triggerWorker" | "closeWorker" | "workers">;

/** The methods for the workers of a session. */
export function createWorkerMethods(
  requestAgent: RequestAgent,
  link: Pick<ReconnectingConnection, "getConnection">,
): WorkerMethods {
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
    delegate(sessionId, task) {
      const requested = typeof task === "string" ? { task } : task;
      const request = messages.encodeDelegateRequest(sessionId, requested, randomWebHex(16));
      return send(request, messages.readWorkerState);
    },
    triggerWorker(sessionId, workerId, payload) {
      const trigger = { workerId, payload };
      const request = messages.encodeTriggerRequest(sessionId, trigger, randomWebHex(16));
      return send(request, messages.readWorkerState);
    },
    async closeWorker(sessionId, workerId) {
      await send(messages.encodeCloseRequest(sessionId, workerId), messages.readWorkerState);
    },
    workers: (sessionId) => send(messages.encodeWorkersRequest(sessionId), messages.readWorkers),
  };
}
