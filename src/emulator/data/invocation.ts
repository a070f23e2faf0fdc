import type { Message } from "../brains/message.ts";
import type { Incoming } from "../exchange.ts";
import { Constraints, type TextRule } from "../constraints.ts";
import { readJsonBody } from "../json-body.ts";
import { readMessages } from "./messages.ts";
import { readOverrides, type Overrides } from "./settings.ts";

export const SESSION_HEADER = "x-amzn-bedrock-agentcore-runtime-session-id";

/** A request to InvokeHarness that keeps the rules of the service's model. */
export interface Invocation {
  readonly harnessArn: string;
  readonly qualifier: string | undefined;
  readonly sessionId: string;
  readonly messages: readonly Message[];
  readonly overrides: Overrides;
}

/** Throws a ValidationException that names every member that breaks a rule. */
export function readInvocation(request: Incoming): Invocation {
  const body = readJsonBody(request.body);
  const constraints = new Constraints();
  const qualifier = request.query.get("qualifier") ?? undefined;
  if (qualifier !== undefined) constraints.text("qualifier", qualifier, QUALIFIER);
  for (const [name, path, most] of TRACE_HEADERS) {
    const value = request.headers[name];
    if (value !== undefined) constraints.text(path, value, { most });
  }
  const messages = readMessages(constraints, body["messages"]);
  const invocation = {
    harnessArn: constraints.text("harnessArn", request.query.get("harnessArn"), HARNESS_ARN),
    qualifier,
    sessionId: constraints.text("runtimeSessionId", request.headers[SESSION_HEADER], {
      ...SESSION_ID,
      most: 100,
    }),
    messages,
    overrides: readOverrides(constraints, body),
  };
  constraints.check();
  return invocation;
}

export const QUALIFIER: TextRule = { least: 1, most: 48, pattern: "[a-zA-Z][a-zA-Z0-9_]{0,47}" };
export const SESSION_ID: TextRule = { least: 33, pattern: "[a-zA-Z0-9][a-zA-Z0-9-_]*" };
const HARNESS_ARN: TextRule = {
  pattern:
    "arn:(aws[a-zA-Z-]*):bedrock-agentcore:[a-z0-9-]+:[0-9]{12}:harness/[a-zA-Z][a-zA-Z0-9_]{0,39}-[a-zA-Z0-9]{10}",
};
const TRACE_HEADERS = [
  ["traceparent", "traceParent", 1024],
  ["tracestate", "traceState", 512],
  ["x-amzn-trace-id", "traceId", 1024],
  ["baggage", "baggage", 8192],
] as const;
