import { agentCore, type ConnectionOptions } from "../../aws/agentcore.ts";
import { parseArn } from "../../aws/arn.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { checkQualifier, checkRuntimeArn, checkSessionId } from "../../wire/agentcore/names.ts";
import { runtimeRequest } from "../../wire/agentcore/runtime-request.ts";
import { runtimeStream } from "../../wire/agentcore/runtime-stream.ts";
import { errorOfAnswer } from "../../wire/agentcore/service-error.ts";
import type { TraceContext } from "../../wire/agentcore/session-headers.ts";
import { jsonBody } from "../../wire/agentcore/wire-request.ts";
import type { CallLimits } from "../agentcore/limits.ts";
import { newSessionId } from "../agentcore/new-session-id.ts";
import { openStream } from "../agentcore/open-stream.ts";
import { requestIdOf } from "../agentcore/read-stream.ts";
import { sessionMachine, type MachineSession } from "../agentcore/session-machine.ts";
import { brokenTurn, withFailure } from "../agentcore/turn-failure.ts";
import type { CallInput, CallOptions, OpenOptions, Provider, ProviderCall } from "../provider.ts";

export interface RuntimeOptions extends ConnectionOptions {
  readonly runtimeArn: string;
  readonly qualifier?: string;
  readonly userId?: string;
  /** What the agent is sent, as JSON; `{ prompt }` unless it wants something else. */
  readonly payload?: (input: CallInput) => unknown;
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
  const { qualifier, userId, payload = promptPayload, toolsRunBy = "agent", limits = {} } = options;
  const runtimeArn = checkRuntimeArn("runtimeArn", options.runtimeArn);
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
        async call(input, { signal, trace, tap }) {
          const body = jsonBody(payload(input));
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
              return withFailure(stream, ({ details, ...failure }) => ({
                ...failure,
                details: { ...details, ...known },
              }));
            },
            broken: brokenTurn,
          });
        },
      };
    },
  };
}

function promptPayload(input: CallInput): unknown {
  if (input.type === "prompt") return { prompt: input.texts.join("\n\n") };
  throw new SpanlineError(
    "invalid_option",
    "This agent takes no results of tools; give `payload` if it has a form for them",
    { details: { path: "payload" } },
  );
}
