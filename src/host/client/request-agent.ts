import { SpanlineError } from "../../domain/errors.ts";
import type { JsonValue } from "../../data/json.ts";
import type { AgentRequest } from "../../wire/acp/client/agent-requests.ts";
import type { ReadResult } from "../../wire/acp/host/read-result.ts";
import type { RequestOptions } from "./client.ts";
import type { RequestControl } from "../connection/sent-requests.ts";
import { hasErrorCode } from "../connection/error-code.ts";
import type { ReconnectingConnection } from "../connection/reconnecting-connection.ts";

export interface AgentRequestOptions extends RequestOptions, Pick<RequestControl, "onResponse"> {
  /** Wraps each attempt. `send` performs the attempt and calls `onAnswered` when the response arrives. */
  readonly attempt?: (ask: (answered: () => void) => Promise<JsonValue>) => Promise<JsonValue>;
}

/** Sends a request on the current connection. A repeatable request is sent again after a lost connection. */
export type RequestAgent = (
  agentRequest: AgentRequest,
  options?: AgentRequestOptions,
) => Promise<JsonValue>;

export function createRequestAgent(link: ReconnectingConnection): RequestAgent {
  return async (agentRequest, { repeatable = false, attempt = sendOnce, ...control } = {}) => {
    for (;;) {
      const { connection } = await link.getConnection(control.signal);
      try {
        return await attempt((onAnswered) =>
          connection.request(agentRequest, {
            ...control,
            onResponse(answer) {
              control.onResponse?.(answer);
              onAnswered();
            },
          }),
        );
      } catch (error) {
        if (!repeatable || !hasErrorCode(error, "connection_lost")) throw error;
      }
    }
  };
}

function sendOnce<Value>(send: (answered: () => void) => Promise<Value>): Promise<Value> {
  return send(() => {});
}

export function requireReadable<Value>(method: string, reading: ReadResult<Value>): Value {
  if (reading.ok) return reading.value;
  throw new SpanlineError(
    "unexpected_answer",
    `The agent's response to ${method} is not valid: ${reading.problem}`,
    { details: { operation: method } },
  );
}
