import type { Message } from "../../brains/session-message.ts";
import type { EmulatorRequest } from "../../service/service-types.ts";
import { Constraints, type TextRule } from "../../service/constraints.ts";
import { readJsonBody } from "../../service/read-json-body.ts";
import { readMessages } from "./read-request-messages.ts";
import { readOverrides, type SettingOverrides } from "./invocation-settings.ts";

export const SESSION_HEADER = "x-amzn-bedrock-agentcore-runtime-session-id";

/** A valid request to InvokeHarness, by the rules of the service model. */
export interface HarnessInvocation {
  readonly harnessArn: string;
  readonly qualifier: string | undefined;
  readonly sessionId: string;
  readonly messages: readonly Message[];
  readonly overrides: SettingOverrides;
}

/** Throws a ValidationException that names all invalid members. */
export function readHarnessInvocation(request: EmulatorRequest): HarnessInvocation {
  const body = readJsonBody(request.body);
  const constraints = new Constraints();
  const qualifier = request.query.get("qualifier") ?? undefined;
  if (qualifier !== undefined) constraints.readText("qualifier", qualifier, QUALIFIER_RULE);
  for (const [name, path, maxLength] of TRACE_HEADERS) {
    const value = request.headers[name];
    if (value !== undefined) constraints.readText(path, value, { max: maxLength });
  }
  const messages = readMessages(constraints, body["messages"]);
  const invocation = {
    harnessArn: constraints.readText(
      "harnessArn",
      request.query.get("harnessArn"),
      HARNESS_ARN_RULE,
    ),
    qualifier,
    sessionId: constraints.readText("runtimeSessionId", request.headers[SESSION_HEADER], {
      ...SESSION_ID_RULE,
      max: 100,
    }),
    messages,
    overrides: readOverrides(constraints, body),
  };
  constraints.throwIfInvalid();
  return invocation;
}

export const QUALIFIER_RULE: TextRule = { min: 1, max: 48, pattern: "[a-zA-Z][a-zA-Z0-9_]{0,47}" };
export const SESSION_ID_RULE: TextRule = { min: 33, pattern: "[a-zA-Z0-9][a-zA-Z0-9-_]*" };
const HARNESS_ARN_RULE: TextRule = {
  pattern:
    "arn:(aws[a-zA-Z-]*):bedrock-agentcore:[a-z0-9-]+:[0-9]{12}:harness/[a-zA-Z][a-zA-Z0-9_]{0,39}-[a-zA-Z0-9]{10}",
};
const TRACE_HEADERS = [
  ["traceparent", "traceParent", 1024],
  ["tracestate", "traceState", 512],
  ["x-amzn-trace-id", "traceId", 1024],
  ["baggage", "baggage", 8192],
] as const;
