import { agentCore, type ConnectionOptions } from "../../aws/agentcore.ts";
import { parseArn } from "../../aws/arn.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { ModelMessage } from "../../domain/model-request.ts";
import { withFailure } from "../../remote/with-failure.ts";
import { checkAgentArn, checkQualifier } from "../../wire/agentcore/names.ts";
import { runtimeRequest, type RuntimeTarget } from "../../wire/agentcore/runtime-request.ts";
import { runtimeStream } from "../../wire/agentcore/runtime-stream.ts";
import { errorOfAnswer } from "../../wire/agentcore/service-error.ts";
import type { TraceContext } from "../../wire/agentcore/session-headers.ts";
import { jsonBody } from "../../wire/agentcore/wire-request.ts";
import { brokenTurn } from "../agentcore/broken-turn.ts";
import { firstWords, type FirstWords } from "../agentcore/first-words.ts";
import { checkLimits, type CallLimits } from "../agentcore/limits.ts";
import { openStream } from "../agentcore/open-stream.ts";
import { requestIdOf } from "../agentcore/request-id.ts";
import { sessionIdFor } from "../agentcore/session-id.ts";
import { sessionMachine, type MachineSession } from "../agentcore/session-machine.ts";
import type {
  CallInput,
  CallOptions,
  OfferedTool,
  OpenOptions,
  Provider,
  ProviderCall,
} from "../provider.ts";
import { transcript } from "./transcript.ts";

export interface RuntimeOptions extends ConnectionOptions {
  readonly runtimeArn: string;
  readonly qualifier?: string;
  readonly userId?: string;
  /**
   * What the agent is sent, as JSON; `{ prompt }` unless it wants something else. `history` is what was said before, for the
   * first call of a conversation that was opened with one, and else empty; the prompt has it as text.
   */
  readonly payload?: (
    input: CallInput,
    tools: readonly OfferedTool[],
    history: readonly ModelMessage[],
  ) => unknown;
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

  async function call(
    { target, history }: Conversation,
    input: CallInput,
    { signal, tools = [], trace, tap }: RuntimeCallOptions,
  ): Promise<ProviderCall> {
    const body = jsonBody(payload(input, tools, history.items));
    return openStream({
      service,
      prepare: async () =>
        runtimeRequest({ ...target, ...(trace !== undefined && { trace }) }, body),
      limits,
      signal,
      ...(tap !== undefined && { tap }),
      codecFor(answer) {
        const contentType = answer.headers["content-type"] ?? null;
        const requestId = requestIdOf(answer);
        const known = { phase: "stream", ...(requestId !== undefined && { requestId }) };
        const stream = runtimeStream({ contentType, toolsRunBy, accepted: true });
        return history.heardIn(
          withFailure(stream, ({ details, ...failure }) =>
            answer.scrub({ ...failure, details: { ...details, ...known } }),
          ),
        );
      },
      broken: brokenTurn,
    });
  }

  return {
    name: "agentcore-runtime",
    seams:
      toolsRunBy === "caller"
        ? ["turn-start", "tool-results", "turn-end"]
        : ["turn-start", "turn-end"],
    effectFree: false,
    // Its app has no place for anything else that we know of.
    ...(toolsRunBy === "caller" && { takes: { tools: true } }),
    ready: () => service.ready(),
    open(opening = {}) {
      const id = sessionIdFor(opening);
      const history = firstWords(opening.history ?? []);
      const target = {
        runtimeArn,
        sessionId: id,
        ...(qualifier !== undefined && { qualifier }),
        ...(userId !== undefined && { userId }),
      };
      return {
        id,
        ...sessionMachine(service, target, limits),
        call: (input, callOptions) => call({ target, history }, input, callOptions),
      };
    },
  };
}

interface Conversation {
  readonly target: RuntimeTarget;
  readonly history: FirstWords<ModelMessage>;
}

function promptPayload(
  input: CallInput,
  tools: readonly OfferedTool[],
  history: readonly ModelMessage[],
): unknown {
  if (input.type === "prompt" && tools.length === 0) {
    return { prompt: [...transcript(history), ...input.texts].join("\n\n") };
  }
  const what = input.type === "prompt" ? "tools that we offer" : "results of tools";
  throw noForm(what);
}

function noForm(what: string): SpanlineError {
  const message = `This agent takes no ${what}; give \`payload\` if it has a form for them`;
  return new SpanlineError("invalid_option", message, { details: { path: "payload" } });
}
