import {
  createAgentCoreClient,
  type AgentCoreClient,
  type ConnectionOptions,
} from "../../aws/agentcore-client.ts";
import { parseArn } from "../../aws/arn.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { ModelMessage } from "../../domain/model/model-request.ts";
import { endWithFailure } from "../../remote/read-response.ts";
import type { TimeLimits } from "../../remote/time-limits.ts";
import { checkAgentArn, checkQualifier } from "../../wire/agentcore/check-options.ts";
import {
  encodeInvokeRuntime,
  type RuntimeTarget,
} from "../../wire/agentcore/runtime/runtime-request.ts";
import { createRuntimeStream } from "../../wire/agentcore/runtime/runtime-stream.ts";
import { serviceErrorFromResponse } from "../../wire/agentcore/service-error.ts";
import { type TraceContext, encodeJsonBody } from "../../wire/agentcore/wire-request.ts";
import { endBrokenTurn } from "./end-broken-turn.ts";
import { createPendingHistory, type PendingHistory } from "./pending-history.ts";
import { resolveLimits, type InvocationLimits } from "./invocation-limits.ts";
import { openStream, readRequestId } from "./open-stream.ts";
import {
  createRuntimeSession,
  resolveSessionId,
  type AgentCoreSession,
} from "./runtime-session.ts";
import type {
  InvocationInput,
  InvocationOptions,
  OfferedTool,
  OpenOptions,
  Provider,
  ProviderInvocation,
} from "../provider.ts";
import { formatTranscript } from "./format-transcript.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface RuntimeOptions extends ConnectionOptions {
  readonly runtimeArn: string;
  readonly qualifier?: string;
  readonly userId?: string;
  /**
   * What the agent is sent, as JSON; `{ prompt }` unless it wants something else. `history` is what was said before, for the
   * first call of a conversation that was opened with one, and else empty; the prompt has it as text.
   */
  readonly payload?: (
    input: InvocationInput,
    tools: readonly OfferedTool[],
    history: readonly ModelMessage[],
  ) => unknown;
  /** Who runs the tools that the agent's stream calls: the agent itself, unless its app hands them to us. */
  readonly toolsRunBy?: "agent" | "caller";
  readonly limits?: InvocationLimits;
}

export interface RuntimeInvocationOptions extends InvocationOptions {
  readonly trace?: TraceContext;
}

export interface RuntimeSession extends AgentCoreSession {
  invoke(input: InvocationInput, options: RuntimeInvocationOptions): Promise<ProviderInvocation>;
}

export interface RuntimeProvider extends Provider {
  open(options?: OpenOptions): RuntimeSession;
}

/** An agent of somebody's own making on AgentCore Runtime, such as one with Strands. It runs its tools itself. */
export function runtimeProvider(options: RuntimeOptions): RuntimeProvider {
  const { qualifier, userId, payload = toPromptPayload, toolsRunBy = "agent" } = options;
  const limits = resolveLimits(options.limits ?? {});
  if (toolsRunBy === "caller" && options.payload === undefined)
    throw createUnsupportedError("results of tools");
  const runtimeArn = checkAgentArn("runtimeArn", options.runtimeArn);
  if (qualifier !== undefined) checkQualifier("qualifier", qualifier);
  const { region = "", partition = "" } = parseArn(runtimeArn) ?? {};
  const service = createAgentCoreClient({ region, partition }, serviceErrorFromResponse, options);
  const client: RuntimeClient = { service, limits, payload, toolsRunBy };

  return {
    name: "agentcore-runtime",
    injectionPoints:
      toolsRunBy === "caller"
        ? ["turn-start", "tool-results", "turn-end"]
        : ["turn-start", "turn-end"],
    effectFree: false,
    // Its app has no place for anything else that we know of.
    ...(toolsRunBy === "caller" && { capabilities: { tools: true } }),
    checkCredentials: () => service.checkCredentials(),
    open(opening = {}) {
      const id = resolveSessionId(opening);
      const history = createPendingHistory(opening.history ?? []);
      const target = {
        runtimeArn,
        sessionId: id,
        ...omitUndefined({ qualifier, userId }),
      };
      return {
        id,
        ...createRuntimeSession(service, target, limits),
        invoke: (input, invocationOptions) =>
          invokeRuntime(client, { target, history }, input, invocationOptions),
      };
    },
  };
}

interface RuntimeClient extends Required<Pick<RuntimeOptions, "payload" | "toolsRunBy">> {
  readonly service: AgentCoreClient;
  readonly limits: TimeLimits;
}

interface RuntimeConversation {
  readonly target: RuntimeTarget;
  readonly history: PendingHistory<ModelMessage>;
}

async function invokeRuntime(
  { service, limits, payload, toolsRunBy }: RuntimeClient,
  { target, history }: RuntimeConversation,
  input: InvocationInput,
  { signal, tools = [], trace, tap }: RuntimeInvocationOptions,
): Promise<ProviderInvocation> {
  const body = encodeJsonBody(payload(input, tools, history.items));
  return openStream({
    service,
    prepare: async () => encodeInvokeRuntime({ ...target, ...omitUndefined({ trace }) }, body),
    limits,
    signal,
    ...omitUndefined({ tap }),
    createCodec(response) {
      const contentType = response.headers["content-type"] ?? null;
      const requestId = readRequestId(response);
      const streamDetails = { phase: "stream", ...omitUndefined({ requestId }) };
      const stream = createRuntimeStream({ contentType, toolsRunBy, hasSuccessStatus: true });
      return history.trackDelivery(
        endWithFailure(stream, ({ details, ...failure }) =>
          response.scrub({ ...failure, details: { ...details, ...streamDetails } }),
        ),
      );
    },
    finishBroken: endBrokenTurn,
  });
}

function toPromptPayload(
  input: InvocationInput,
  tools: readonly OfferedTool[],
  history: readonly ModelMessage[],
): unknown {
  if (input.type === "prompt" && tools.length === 0) {
    return { prompt: [...formatTranscript(history), ...input.texts].join("\n\n") };
  }
  const content = input.type === "prompt" ? "tools that we offer" : "results of tools";
  throw createUnsupportedError(content);
}

function createUnsupportedError(content: string): SpanlineError {
  const message = `This agent takes no ${content}; give \`payload\` if it has a form for them`;
  return new SpanlineError("invalid_option", message, { details: { path: "payload" } });
}
