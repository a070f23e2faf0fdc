import { agentCore, type ConnectionOptions } from "../../aws/agentcore.ts";
import { parseArn } from "../../aws/arn.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { checkAgentArn, checkQualifier, checkSessionId } from "../../wire/agentcore/names.ts";
import { runtimeRequest } from "../../wire/agentcore/runtime-request.ts";
import { runtimeStream } from "../../wire/agentcore/runtime-stream.ts";
import { errorOfAnswer } from "../../wire/agentcore/service-error.ts";
import type { TraceContext } from "../../wire/agentcore/session-headers.ts";
import { jsonBody } from "../../wire/agentcore/wire-request.ts";
import { checkLimits, type CallLimits } from "../agentcore/limits.ts";
import { newSessionId } from "../agentcore/new-session-id.ts";
import { openStream } from "../agentcore/open-stream.ts";
import { requestIdOf } from "../agentcore/read-stream.ts";
import { sessionMachine, type MachineSession } from "../agentcore/session-machine.ts";
import { brokenTurn, withFailure } from "../agentcore/turn-failure.ts";
import type {
  CallInput,
  CallOptions,
  OfferedTool,
  OpenOptions,
  Provider,
  ProviderCall,
} from "../provider.ts";

export interface RuntimeOptions extends ConnectionOptions {
  readonly runtimeArn: string;
  readonly qualifier?: string;
  readonly userId?: string;
  /** What the agent is sent, as JSON; `{ prompt }` unless it wants something else. */
  readonly payload?: (input: CallInput, tools: readonly OfferedTool[]) => unknown;
  /** Who runs the tools that the agent's stream calls: the agent itself, unless its app hands them to us. */
  readonly toolsRunBy?: "agent" | "caller";
  readonly limits?: CallLimits;
}

export interface RuntimeCallOptions extends CallOptions {
  readonly trace?: TraceContext;
}

export interface RuntimeSession extends MachineSession {
  call(input: CallInput, options: RuntimeCallOptions): Promise<ProviderCall>;
}

export interface RuntimeProvider extends Provider {
  open(options?: OpenOptions): RuntimeSession;
}

/** An agent of somebody's own making on AgentCore Runtime, such as one with Strands. It runs its tools itself. */
export function runtimeProvider(options: RuntimeOptions): RuntimeProvider {
  const { qualifier, userId, payload = promptPayload, toolsRunBy = "agent" } = options;
  const limits = checkLimits(options.limits ?? {});
  if (toolsRunBy === "caller" && options.payload === undefined) throw noForm("results of tools");
  const runtimeArn = checkAgentArn("runtimeArn", options.runtimeArn);
  if (qualifier !== undefined) checkQualifier("qualifier", qualifier);
  const { region = "", partition = "" } = parseArn(runtimeArn) ?? {};
  const service = agentCore({ region, partition }, errorOfAnswer, options);

  return {
    name: "agentcore-runtime",
    seams:
      toolsRunBy === "caller"
        ? ["turn-start", "tool-results", "turn-end"]
        : ["turn-start", "turn-end"],
    effectFree: false,
    open({ sessionId } = {}) {
      const id = sessionId === undefined ? newSessionId() : checkSessionId("sessionId", sessionId);
      const target = {
        runtimeArn,
        sessionId: id,
        ...(qualifier !== undefined && { qualifier }),
        ...(userId !== undefined && { userId }),
      };
      return {
        id,
        ...sessionMachine(service, target, limits),
        async call(input, { signal, trace, tap, tools = [] }) {
          const body = jsonBody(payload(input, tools));
          return openStream({
            service,
            prepare: async () =>
              runtimeRequest({ ...target, ...(trace !== undefined && { trace }) }, body),
            limits,
            signal,
            ...(tap !== undefined && { tap }),
            codecFor(answer) {
              const contentType = answer.headers["content-type"] ?? null;
              const known = { phase: "stream", ...requestIdOf(answer) };
              const stream = runtimeStream({ contentType, toolsRunBy, accepted: true });
              return withFailure(stream, ({ details, ...failure }) =>
                answer.scrub({ ...failure, details: { ...details, ...known } }),
              );
            },
            broken: brokenTurn,
          });
        },
      };
    },
  };
}

function promptPayload(input: CallInput, tools: readonly OfferedTool[]): unknown {
  if (input.type === "prompt" && tools.length === 0) return { prompt: input.texts.join("\n\n") };
  const what = input.type === "prompt" ? "tools that we offer" : "results of tools";
  throw noForm(what);
}

function noForm(what: string): SpanlineError {
  const message = `This agent takes no ${what}; give \`payload\` if it has a form for them`;
  return new SpanlineError("invalid_option", message, { details: { path: "payload" } });
}
