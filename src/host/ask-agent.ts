import { SpanlineError } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";
import type { AgentRequest } from "../wire/acp/client/agent-requests.ts";
import type { Reading } from "../wire/acp/host/reading.ts";
import type { RequestOptions } from "./client.ts";
import type { RequestControl } from "./connection.ts";
import { isCode } from "./is-code.ts";
import type { Link } from "./link.ts";

export interface AskOptions extends RequestOptions, Pick<RequestControl, "answered"> {
  /** Called around each attempt, with how to make it; `answered` of it is called when the answer is there. */
  readonly attempt?: (ask: (answered: () => void) => Promise<JsonValue>) => Promise<JsonValue>;
}

/** Asks on the connection that there is, and again on the next where that does no harm. */
export type AskAgent = (asked: AgentRequest, options?: AskOptions) => Promise<JsonValue>;

export function askAgent(link: Link): AskAgent {
  return async (asked, { repeatable = false, attempt = plainly, ...control } = {}) => {
    for (;;) {
      const { connection } = await link.current(control.signal);
      try {
        return await attempt((done) =>
          connection.request(asked, {
            ...control,
            answered(answer) {
              control.answered?.(answer);
              done();
            },
          }),
        );
      } catch (error) {
        if (!repeatable || !isCode(error, "connection_lost")) throw error;
      }
    }
  };
}

function plainly<Value>(ask: (answered: () => void) => Promise<Value>): Promise<Value> {
  return ask(() => {});
}

export function wanted<Value>(method: string, reading: Reading<Value>): Value {
  if (reading.ok) return reading.value;
  throw new SpanlineError(
    "unexpected_answer",
    `The agent's answer to ${method} cannot be read: ${reading.problem}`,
    { details: { operation: method } },
  );
}
