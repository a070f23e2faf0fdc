import {
  createAgentCoreClient,
  type ConnectionOptions,
  type AgentCoreClient,
} from "../../aws/agentcore-client.ts";
import { parseArn } from "../../aws/arn.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { AbortError, toError } from "../../domain/provider/provider-error.ts";
import { endWithFailure, readResponseText } from "../../remote/read-response.ts";
import type { TimeLimits } from "../../remote/time-limits.ts";
import { checkHarnessArn, checkQualifier } from "../../wire/agentcore/check-options.ts";
import { readEndpoint } from "../../wire/agentcore/control/control-response.ts";
import {
  mergeTools,
  narrowTools,
  encodeGetEndpoint,
  encodeGetHarness,
  parseHarnessId,
  readDeployedTools,
  type DeployedTools,
} from "../../wire/agentcore/harness/deployed-tools.ts";
import {
  encodeHarnessHistory,
  encodeHarnessResume,
  joinMessages,
  encodeInvokeHarness,
  type HarnessOverrides,
} from "../../wire/agentcore/harness/harness-request.ts";
import { createHarnessStream } from "../../wire/agentcore/harness/harness-stream.ts";
import { isEventStream } from "../../wire/agentcore/response-body.ts";
import {
  serviceErrorFromResponse,
  classifyServiceFailure,
} from "../../wire/agentcore/service-error.ts";
import type { TraceContext } from "../../wire/agentcore/wire-request.ts";
import {
  createInlineFunction,
  createUserMessages,
  type ConverseMessage,
} from "../../wire/converse/converse-input.ts";
import { resolveLimits, type InvocationLimits } from "./invocation-limits.ts";
import { openStream, readRequestId, endBrokenTurn } from "./open-stream.ts";
import { createPendingHistory, type PendingHistory } from "./pending-history.ts";
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

export interface HarnessOptions extends ConnectionOptions {
  readonly harnessArn: string;
  /** The endpoint name. Default: `DEFAULT`. */
  readonly qualifier?: string;
  /** The user on whose behalf the agent acts. */
  readonly userId?: string;
  /** Overrides for every invocation. The overrides of an invocation take precedence. */
  readonly overrides?: HarnessOverrides;
  /**
   * `merge` adds offered tools to the deployed tools, which are read first. `replace` replaces the deployed tools.
   * Default: `merge`.
   */
  readonly offeredTools?: "merge" | "replace";
  readonly limits?: InvocationLimits;
}

export interface HarnessInvocationOptions extends InvocationOptions {
  readonly overrides?: HarnessOverrides;
  readonly trace?: TraceContext;
}

export interface HarnessSession extends AgentCoreSession {
  invoke(input: InvocationInput, options: HarnessInvocationOptions): Promise<ProviderInvocation>;
}

export interface HarnessProvider extends Provider {
  open(options?: OpenOptions): HarnessSession;
}

/**
 * An agent on AgentCore Harness. The service runs the loop and stores the history; inline tools run in this process.
 */
export function harnessProvider(options: HarnessOptions): HarnessProvider {
  const { qualifier, userId } = options;
  const limits = resolveLimits(options.limits ?? {});
  const harnessArn = checkHarnessArn("harnessArn", options.harnessArn);
  if (qualifier !== undefined) checkQualifier("qualifier", qualifier);
  const { region = "", partition = "" } = parseArn(harnessArn) ?? {};
  const service = createAgentCoreClient({ region, partition }, serviceErrorFromResponse, options);
  const getDeployedTools = createDeployedToolsReader(service, harnessArn, qualifier);
  const client: HarnessClient = { service, limits, options, getDeployedTools };

  return {
    name: "agentcore-harness",
    injectionPoints: ["turn-start", "tool-results", "turn-end"],
    effectFree: false,
    capabilities: { instructions: true, tools: true, allowedTools: true, maxOutputTokens: true },
    checkCredentials: () => service.checkCredentials(),
    open(opening = {}) {
      const id = resolveSessionId(opening);
      const pendingHistory = createPendingHistory(
        opening.history === undefined ? [] : encodeHarnessHistory(opening.history),
      );
      const target = {
        runtimeArn: harnessArn,
        sessionId: id,
        ...omitUndefined({ qualifier, userId }),
      };
      return {
        id,
        ...createRuntimeSession(service, target, limits),
        invoke: (input, invocationOptions) =>
          invokeHarness(client, { sessionId: id, pendingHistory }, input, invocationOptions),
      };
    },
  };
}

interface HarnessClient {
  readonly service: AgentCoreClient;
  readonly limits: TimeLimits;
  readonly options: HarnessOptions;
  readonly getDeployedTools: ReadDeployedTools;
}

interface HarnessConversation {
  readonly sessionId: string;
  readonly pendingHistory: PendingHistory<ConverseMessage>;
}

async function invokeHarness(
  { service, limits, options, getDeployedTools }: HarnessClient,
  { sessionId, pendingHistory }: HarnessConversation,
  input: InvocationInput,
  { signal, trace, tap, ...invocationOptions }: HarnessInvocationOptions,
): Promise<ProviderInvocation> {
  const { harnessArn, qualifier, userId, offeredTools = "merge" } = options;
  const { items: history } = pendingHistory;
  const inputMessages = toConverseMessages(input);
  const messages = history.length === 0 ? inputMessages : joinMessages(history, inputMessages);
  const mergedOverrides = { ...options.overrides, ...invocationOptions.overrides };
  return openStream({
    service,
    prepare: async (ending) =>
      encodeInvokeHarness({
        harnessArn,
        sessionId,
        messages,
        overrides: await applyInvocationOptions(
          mergedOverrides,
          invocationOptions,
          offeredTools,
          () => getDeployedTools(ending),
        ),
        ...omitUndefined({ qualifier, userId, trace }),
      }),
    limits,
    signal,
    ...omitUndefined({ tap }),
    createCodec(response) {
      const { "content-type": contentType = null } = response.headers;
      const stream = isEventStream(contentType) ? STREAM : createHarnessStream({ contentType });
      const requestId = readRequestId(response);
      return pendingHistory.trackDelivery(
        endWithFailure(stream, (failure) =>
          response.scrub(classifyServiceFailure(failure, requestId)),
        ),
      );
    },
    finishBroken: endBrokenTurn,
  });
}

/** Decodes the streams of all invocations. */
const STREAM = createHarnessStream();

function toConverseMessages(input: InvocationInput): ConverseMessage[] {
  if (input.type === "prompt") return createUserMessages(...input.texts);
  return encodeHarnessResume(input.turn, input.results, input.texts ?? []);
}

type ReadDeployed = () => ReturnType<ReadDeployedTools>;

/** Applies the options of an invocation. The options can only narrow the permissions of the overrides. */
async function applyInvocationOptions(
  overrides: HarnessOverrides,
  { tools = [], instructions, maxOutputTokens, allowedTools }: Partial<InvocationOptions>,
  mode: "merge" | "replace",
  readDeployed: ReadDeployed,
): Promise<HarnessOverrides> {
  const { systemPrompt, maxTokens = Infinity } = overrides;
  const withTools = await addOfferedTools(overrides, tools, mode, readDeployed);
  const limited = {
    ...withTools,
    ...(instructions !== undefined && {
      systemPrompt: joinSystemPrompts(systemPrompt, instructions),
    }),
    ...(maxOutputTokens !== undefined && { maxTokens: Math.min(maxTokens, maxOutputTokens) }),
  };
  if (allowedTools === undefined) return limited;
  const hasToolList =
    withTools.tools !== undefined || withTools.allowedTools !== undefined || mode === "replace";
  const allowed = hasToolList
    ? (withTools.allowedTools ?? [])
    : (await readDeployed()).allowedTools;
  return { ...limited, allowedTools: narrowTools(allowed, allowedTools) };
}

/**
 * An override replaces the deployed system prompt. The configured prompt comes before the instructions of the
 * invocation.
 */
function joinSystemPrompts(
  configured: HarnessOverrides["systemPrompt"] = [],
  instructions: string,
): NonNullable<HarnessOverrides["systemPrompt"]> {
  return [
    ...(typeof configured === "string" ? [{ text: configured }] : configured),
    { text: instructions },
  ];
}

async function addOfferedTools(
  overrides: HarnessOverrides,
  offered: readonly OfferedTool[],
  mode: "merge" | "replace",
  readDeployed: ReadDeployed,
): Promise<HarnessOverrides> {
  if (offered.length === 0) return overrides;
  const inlineTools = offered.map(({ name, description, schema }) =>
    createInlineFunction(name, description, schema),
  );
  const { tools, allowedTools } = overrides;
  const base =
    tools !== undefined || mode === "replace"
      ? { tools: tools ?? [], allowedTools: allowedTools ?? [] }
      : await readDeployed();
  const merged = mergeTools(
    { ...base, allowedTools: allowedTools ?? base.allowedTools },
    inlineTools,
  );
  return {
    ...overrides,
    tools: merged.tools,
    ...(merged.allowedTools.length > 0 && { allowedTools: merged.allowedTools }),
  };
}

type ReadDeployedTools = (signal: AbortSignal) => Promise<DeployedTools>;

/** Reads the deployed tools of the harness, for the version served by the endpoint. Cached for a minute. */
function createDeployedToolsReader(
  service: AgentCoreClient,
  harnessArn: string,
  qualifier: string | undefined,
): ReadDeployedTools {
  const id = parseHarnessId(harnessArn);
  let cached: { readonly tools: DeployedTools; readonly at: number } | undefined;

  async function read(signal: AbortSignal): Promise<DeployedTools> {
    let version: string | undefined;
    if (qualifier !== undefined && qualifier !== "DEFAULT") {
      const endpoint = await service.send("control", encodeGetEndpoint(id, qualifier), signal);
      version =
        readEndpoint(await readResponseText(endpoint), "GetHarnessEndpoint").liveVersion ??
        undefined;
    }
    const harness = await service.send("control", encodeGetHarness(id, version), signal);
    return readDeployedTools(await readResponseText(harness));
  }

  return async (signal) => {
    const now = service.clock.monotonic();
    if (cached === undefined || now - cached.at > CACHE_MS) {
      cached = { tools: await read(signal).catch(explainReadFailure), at: now };
    }
    return cached.tools;
  };
}

/** Long enough for the invocations of a turn, short enough for a developer who deploys and tries again. */
const CACHE_MS = 60_000;

/** Explains a failed read: a caller with permission to invoke may lack the permission or the signature for reading. */
function explainReadFailure(error: unknown): never {
  if (!(error instanceof SpanlineError) || error instanceof AbortError) throw error;
  // If the connection fails, an invocation would fail too, so the hint would be wrong.
  if (error.code === "connect_failed") throw error;
  const { code, message, details } = error;
  const hint = `Cannot read the deployed tools, to which the offered tools are added: ${message.replace(/\.$/, "")}. Fix: allow the caller to read the harness (GetHarness), or set offeredTools to "replace" in code`;
  throw toError({ code, message: hint, details: { ...details, operation: "GetHarness" } });
}
