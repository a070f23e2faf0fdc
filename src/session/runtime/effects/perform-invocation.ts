import type { PromptOptions } from "../../../domain/prompt.ts";
import { SpanlineError, formatThrown, type Failure } from "../../../domain/errors.ts";
import type { ProviderEvent } from "../../../domain/provider/provider-event.ts";
import type { SteadyClock } from "../../../platform/clock.ts";
import type {
  InvocationInput,
  InvocationOptions,
  OfferedTool,
  OpenOptions,
} from "../../../providers/provider.ts";
import type { Agent } from "../agent/agent.ts";
import { selectHistory, collectUnsentInput, type Conversation } from "../history/conversation.ts";
import type { Effect } from "../../due-effects.ts";
import type { SessionInput, ProviderOutput } from "../../session-input.ts";
import { HistoryProjector } from "../history/project-messages.ts";
import { projectRequest, type PreparedRequest } from "./project-request.ts";
import type { ReadConversation } from "../history/conversation-reader.ts";
import { createCoalescer } from "./coalescer.ts";
import { findToolInputProblem } from "./tool-input-problem.ts";
import { loadImageParts, LoadedHistory, type ReadBlob } from "../history/load-images.ts";
import { isConnectionCut } from "../../../domain/provider/invocation-outcome.ts";
import { isPromptTool, isToolAllowed } from "../../turn-options.ts";
import type { OutgoingContent } from "../../turn/turn-state.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

export interface InvocationContext {
  readonly agent: Agent;
  readonly clock: SteadyClock;
  readonly signal: AbortSignal;
  readonly coalesceMs: number;
  readonly readConversation: ReadConversation;
  readonly readBlob: ReadBlob;
  readonly caches: HistoryCaches;
  readonly send: (input: SessionInput) => Promise<unknown>;
}

/** Cached history of a session between invocations, separately for agents with and without image support. */
export interface HistoryCaches {
  readonly withImages: LoadedHistory;
  readonly withNotes: LoadedHistory;
  readonly projector: HistoryProjector;
}

export function createHistoryCaches(): HistoryCaches {
  return {
    withImages: new LoadedHistory(),
    withNotes: new LoadedHistory(),
    projector: new HistoryProjector(),
  };
}

/** Counts twice: each message exists as an object and in the encoded request. */
export function countCachedBytes({ withImages, withNotes }: HistoryCaches): number {
  return 2 * (withImages.bytes + withNotes.bytes);
}

type InvokeEffect = Extract<Effect, { type: "invoke" }>;

/** Performs one invocation and sends its events to the session. Never retries. */
export async function performInvocation(
  effect: InvokeEffect,
  context: InvocationContext,
): Promise<void> {
  const { invocationId, upstreamId } = effect;
  const { agent, signal } = context;
  let stage: "preparing" | "sent" | "open" = "preparing";
  let localFailure: unknown;
  const trackLocalFailure: TrackLocalFailure = async (operation) => {
    try {
      return await operation;
    } catch (error) {
      localFailure = error;
      throw error;
    }
  };
  const send: InvocationContext["send"] = (sessionInput) =>
    trackLocalFailure(context.send(sessionInput));
  try {
    const request = await prepareRequest(effect, { ...context, send, trackLocalFailure });
    const options = createInvocationOptions(effect, context);
    const session = agent.provider.open({ sessionId: upstreamId, ...request.opening });
    stage = "sent";
    const stream = await session.invoke(request.input, options);
    stage = "open";
    await reportStream(stream, effect, { ...context, send });
  } catch (error) {
    if (signal.aborted) return;
    // Failing to read or write the log is not a failure of the provider.
    if (localFailure !== undefined) throw localFailure;
    const { failure, isCertain } = toFailure(error, stage !== "preparing");
    // For unknown errors, the progress of the request is unknown.
    const mayHaveBeenSent =
      stage !== "preparing" && (stage === "open" || !isCertain || isConnectionCut(failure));
    await send({ type: "invocation-failed", invocationId, failure, mayHaveBeenSent });
  }
}

/** Keeps the error of an operation on the log or on stored images. Rejects with the same error. */
type TrackLocalFailure = <Value>(operation: Promise<Value>) => Promise<Value>;

interface PreparationContext extends InvocationContext {
  readonly trackLocalFailure: TrackLocalFailure;
}

interface InvocationRequest {
  readonly input: InvocationInput;
  /** Undefined if the provider has the history. */
  readonly opening: Pick<OpenOptions, "history" | "stableCount"> | undefined;
}

/** Loads the content of an invocation from the log, and logs its projection. */
async function prepareRequest(
  effect: InvokeEffect,
  { agent, caches, send, trackLocalFailure, ...context }: PreparationContext,
): Promise<InvocationRequest> {
  const { invocationId, isSeeding, projected = null } = effect;
  const loggedConversation = isSeeding
    ? await trackLocalFailure(context.readConversation(invocationId))
    : null;
  const prepared = prepareOutgoing(effect, loggedConversation, agent);
  const projection = { agent, projector: caches.projector };
  const { outgoing, history, receipt } = projectRequest(prepared, projected, projection);
  if (receipt !== undefined)
    await send({ type: "transcript-projected", invocationId, projection: receipt });
  // Image support may have changed since the prompt: images then become text notes.
  const takesImages = agent.spec.provider.capabilities?.images === true;
  const readBlob: ReadBlob = takesImages ? context.readBlob : async () => undefined;
  const input = await trackLocalFailure(createInvocationInput(outgoing, readBlob));
  const cache = takesImages ? caches.withImages : caches.withNotes;
  const opening = history && {
    history: await trackLocalFailure(cache.load(history, readBlob)),
    stableCount: history.stableCount,
  };
  return { input, opening };
}

/**
 * Prepares the content of an invocation. `loggedConversation`: the history from the log, if the provider does not have
 * it.
 */
function prepareOutgoing(
  { outgoing }: InvokeEffect,
  loggedConversation: Conversation | null,
  { spec }: Agent,
): PreparedRequest {
  if (loggedConversation === null) return { outgoing };
  const carriesResults = outgoing.toolResults !== null;
  const history = selectHistory(loggedConversation, carriesResults);
  if (spec.provider.keepsHistory !== false) return { outgoing, history };
  return {
    outgoing: { ...outgoing, ...collectUnsentInput(loggedConversation, carriesResults) },
    history,
  };
}

async function createInvocationInput(
  outgoing: OutgoingContent,
  readBlob: ReadBlob,
): Promise<InvocationInput> {
  const { images: storedImages = [], toolResults } = outgoing;
  const { images, notes } =
    storedImages.length === 0 ? NO_IMAGES : await loadImageParts(storedImages, readBlob);
  const texts = [...outgoing.texts, ...notes];
  if (toolResults === null) return { type: "prompt", texts, ...(images.length > 0 && { images }) };
  const { messages, toolCalls } = toolResults;
  return {
    type: "results",
    turn: { messages, toolCalls: toolCalls.map(({ toolCall }) => toolCall) },
    results: toolCalls.flatMap(({ result }) => (result === null ? [] : [result])),
    ...(texts.length > 0 && { texts }),
    ...(images.length > 0 && { images }),
  };
}

const NO_IMAGES = { images: [], notes: [] };

function createInvocationOptions(
  { options: promptOptions, progress }: InvokeEffect,
  { agent, signal }: InvocationContext,
): InvocationOptions {
  const options = promptOptions ?? null;
  const tools = listOfferedTools(agent, options);
  return {
    signal,
    ...(tools.length > 0 && { tools }),
    ...selectInvocationOptions(options, agent),
    ...omitUndefined({ turn: progress }),
  };
}

/** Selects the prompt options supported by the provider. */
function selectInvocationOptions(
  options: PromptOptions | null,
  { spec }: Agent,
): Partial<InvocationOptions> {
  const { instructions, maxOutputTokens, allowedTools, trace } = options ?? {};
  const takesInstructions = spec.provider.capabilities?.instructions === true;
  return {
    ...(takesInstructions && instructions !== undefined && { instructions }),
    ...omitUndefined({ maxOutputTokens, allowedTools, trace }),
  };
}

/**
 * Lists the tools the model can call in this turn and which do not run at the provider. A prompt tool hides an agent
 * tool of the same name for this turn.
 */
function listOfferedTools({ spec }: Agent, options: PromptOptions | null): OfferedTool[] {
  const allowed =
    options === null
      ? spec.tools
      : [
          ...spec.tools.filter(({ name }) => !isPromptTool(options, name)),
          ...(options.tools ?? []),
        ].filter(({ name }) => isToolAllowed(options, name));
  return allowed.map(({ name, description, schema }) => ({ name, description, schema }));
}

async function reportStream(
  stream: AsyncIterable<ProviderEvent>,
  { invocationId: callId, options }: InvokeEffect,
  { agent, clock, coalesceMs, signal, send }: InvocationContext,
): Promise<void> {
  const batches = createCoalescer<ProviderOutput>({
    timer: clock,
    milliseconds: coalesceMs,
    merge: joinDeltas,
    deliver: async (outputs) => {
      await send({ type: "provider-events", invocationId: callId, outputs });
    },
  });
  let last: ProviderEvent | undefined;
  try {
    for await (const event of stream) {
      if (signal.aborted) return;
      const output = checkToolInput(event, agent, options ?? null);
      await batches.add(output, { canWait: isDelta(event), weight: measureWeight(event) });
      last = event;
    }
  } finally {
    // Events before a failure count; events after an abort are discarded.
    await (signal.aborted ? batches.stop() : batches.flush());
  }
  if (last?.type === "end" || signal.aborted) return;
  throw new SpanlineError("incomplete_turn", "The agent's stream stopped without an end event");
}

type Delta = Extract<
  ProviderEvent,
  { readonly type: "text.delta" | "reasoning.delta" | "tool.delta" }
>;

function isDelta(event: ProviderEvent): event is Delta {
  return (
    event.type === "text.delta" || event.type === "reasoning.delta" || event.type === "tool.delta"
  );
}

/**
 * Approximate characters, for backpressure. Content of unbounded size fills the buffer, so the next event waits for its
 * delivery.
 */
function measureWeight(event: ProviderEvent): number {
  switch (event.type) {
    case "tool.end":
      return event.toolCall.inputText.length;
    case "tool.result":
    case "unknown":
      return Infinity;
    default:
      return "text" in event ? event.text.length : 0;
  }
}

function joinDeltas(
  { event: previous }: ProviderOutput,
  { event }: ProviderOutput,
): ProviderOutput | undefined {
  if (!isDelta(previous) || !isDelta(event)) return undefined;
  if (previous.type !== event.type || previous.block !== event.block) return undefined;
  return { event: { ...previous, text: previous.text + event.text } };
}

/** Validates a client tool call, before an approver sees it. */
function checkToolInput(
  event: ProviderEvent,
  agent: Agent,
  options: PromptOptions | null,
): ProviderOutput {
  if (event.type !== "tool.end" || event.toolCall.runBy !== "client") return { event };
  const { name, input } = event.toolCall;
  // Arguments of prompt tools are validated by the prompter.
  if (input === null || isPromptTool(options, name)) return { event };
  const tool = agent.tools.get(name);
  if (tool === undefined) {
    const toolNames = [...agent.tools.keys()].join(", ");
    return {
      event,
      problem: `${name} is not an available tool. Available tools: ${toolNames || "none"}.`,
    };
  }
  const problem = findToolInputProblem(tool, input);
  return problem === undefined ? { event } : { event, problem };
}

function toFailure(
  error: unknown,
  isRequestSent: boolean,
): { readonly failure: Failure; readonly isCertain: boolean } {
  const known = error instanceof SpanlineError ? error.toFailure() : undefined;
  const message = `The provider failed: ${formatThrown(error)}`;
  const {
    code,
    message: text,
    details,
  } = known ?? { code: "service_failed", message, details: {} };
  const failure = {
    code,
    message: text,
    details: isRequestSent ? details : { ...details, phase: "connect" },
  };
  return { failure, isCertain: known !== undefined };
}
