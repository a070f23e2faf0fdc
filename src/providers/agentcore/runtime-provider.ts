import {
  createAgentCoreClient,
  type AgentCoreClient,
  type ConnectionOptions,
} from "../../aws/agentcore-client.ts";
import { parseArn } from "../../aws/arn.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { ModelMessage, ModelBlock } from "../../domain/model/model-request.ts";
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
import { createPendingHistory, type PendingHistory } from "./pending-history.ts";
import { resolveLimits, type InvocationLimits } from "./invocation-limits.ts";
import { openStream, readRequestId, endBrokenTurn } from "./open-stream.ts";
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
import { omitUndefined } from "../../data/omit-undefined.ts";
import { formatImageNote } from "../../domain/model/image-block.ts";
import { normalizeHistory } from "../../domain/model/normalize-history.ts";
import { formatResultText } from "../../wire/chat/result-text.ts";

export interface RuntimeOptions extends ConnectionOptions {
  readonly runtimeArn: string;
  readonly qualifier?: string;
  readonly userId?: string;
  /**
   * Creates the JSON payload for the agent. Default: `{ prompt }`. `history` has the earlier messages for the first
   * invocation of a session opened with a history, otherwise it is empty; the default prompt includes the history as
   * text.
   */
  readonly payload?: (
    input: InvocationInput,
    tools: readonly OfferedTool[],
    history: readonly ModelMessage[],
  ) => unknown;
  /**
   * Who runs the tools called in the agent's stream: the agent itself, or this process if the agent's app returns tool
   * calls. Default: `agent`.
   */
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

/** A custom agent on AgentCore Runtime, for example with Strands. By default the agent runs its tools itself. */
export function runtimeProvider(options: RuntimeOptions): RuntimeProvider {
  const { qualifier, userId, payload = toPromptPayload, toolsRunBy = "agent" } = options;
  const limits = resolveLimits(options.limits ?? {});
  if (toolsRunBy === "caller" && options.payload === undefined)
    throw createUnsupportedError("tool results");
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
    // The payload has no standard place for other options.
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
  const content = input.type === "prompt" ? "offered tools" : "tool results";
  throw createUnsupportedError(content);
}

function createUnsupportedError(content: string): SpanlineError {
  const message = `This agent does not support ${content}. Fix: set \`payload\` to encode them for the agent`;
  return new SpanlineError("invalid_option", message, { details: { path: "payload" } });
}

/** Formats a history as paragraphs, for an agent that accepts only text. Empty for an empty history. */
function formatTranscript(history: readonly ModelMessage[]): string[] {
  const messages = normalizeHistory(history);
  const names = collectToolNames(messages);
  const paragraphs = messages.flatMap(({ role, blocks }) =>
    blocks.flatMap((block) => formatBlock(SPEAKERS[role], block, names)),
  );
  return paragraphs.length === 0 ? [] : [INTRODUCTION, ...paragraphs, CONTINUATION];
}

const INTRODUCTION = "This conversation was started elsewhere. The messages so far:";
const CONTINUATION = "The conversation continues here:";
const SPEAKERS = { user: "User", assistant: "Assistant" } as const;

function formatBlock(
  speaker: string,
  block: ModelBlock,
  names: ReadonlyMap<string, string>,
): string[] {
  switch (block.type) {
    case "text":
      return [indentLines(`${speaker}: ${block.text}`)];
    case "reasoning":
      return [];
    case "tool-call":
      return [
        indentLines(
          `${speaker} called ${block.toolCall.name}: ${block.toolCall.inputText || "{}"}`,
        ),
      ];
    case "tool-result": {
      const name = names.get(block.result.toolCallId) ?? block.result.toolCallId;
      return [indentLines(`Result of ${name}: ${formatResultText(block.result)}`)];
    }
    case "image":
      return [indentLines(`${speaker}: ${formatImageNote(block)}`)];
    default:
      return block satisfies never;
  }
}

/** Indents all lines after the first, so a tool result cannot imitate a message of the user. */
function indentLines(text: string): string {
  return text.replaceAll(/\r\n|[\n\r\u2028\u2029]/g, "\n  ");
}

function collectToolNames(messages: readonly ModelMessage[]): ReadonlyMap<string, string> {
  const blocks = messages.flatMap((message) => message.blocks);
  return new Map(
    blocks.flatMap((block) =>
      block.type === "tool-call" ? [[block.toolCall.id, block.toolCall.name] as const] : [],
    ),
  );
}
