import { coalescer } from "../async/coalescer.ts";
import type { PromptOptions } from "../domain/agent-event.ts";
import { SpanlineError, thrownMessage, type Failure } from "../domain/errors.ts";
import type { ProviderEvent } from "../domain/provider-event.ts";
import type { SteadyClock } from "../platform/clock.ts";
import type { CallInput, CallOptions } from "../providers/provider.ts";
import type { Agent } from "./agent.ts";
import { historyOf, saidSince, type Conversation, type History } from "./conversation.ts";
import type { Effect } from "./due.ts";
import type { Happening, Said } from "./input.ts";
import type { LogConversation } from "./log-conversation.ts";
import { problemWith } from "./problem-with.ts";
import { shownImages, ShownHistory, type ReadBlob } from "./shown-images.ts";
import { isCut } from "../domain/call-fate.ts";
import { isPromptTool, offeredTools } from "./turn-options.ts";
import type { Outgoing } from "./turn/turn-state.ts";

export interface CallWork {
  readonly agent: Agent;
  readonly clock: SteadyClock;
  readonly signal: AbortSignal;
  readonly coalesceMs: number;
  readonly conversation: LogConversation;
  readonly readBlob: ReadBlob;
  readonly caches: HistoryCaches;
  readonly send: (happening: Happening) => Promise<unknown>;
}

/** What a session keeps of its history between calls, by whether the agent is shown images. */
export interface HistoryCaches {
  readonly withImages: ShownHistory;
  readonly withNotes: ShownHistory;
}

export function historyCaches(): HistoryCaches {
  return { withImages: new ShownHistory(), withNotes: new ShownHistory() };
}

/** Each message is there as an object and once more in the encoded request. */
export function cachedBytes({ withImages, withNotes }: HistoryCaches): number {
  return 2 * (withImages.bytes + withNotes.bytes);
}

type CallEffect = Extract<Effect, { type: "call" }>;

/** Makes one call of the provider, once, and reports what it says. */
export async function performCall(effect: CallEffect, work: CallWork): Promise<void> {
  const { callId, upstreamId, isSeeding, progress, options = null } = effect;
  const { agent, signal } = work;
  let stage: "asking" | "asked" | "open" = "asking";
  let ownFailure: unknown;
  const own = async <Value>(doing: Promise<Value>): Promise<Value> => {
    try {
      return await doing;
    } catch (error) {
      ownFailure = error;
      throw error;
    }
  };
  const send: CallWork["send"] = (happening) => own(work.send(happening));
  try {
    const known = isSeeding ? await own(work.conversation(callId)) : null;
    const { outgoing, history } = broughtBy(effect, known, agent);
    // What takes pictures may have changed since they were said: then they are told of.
    const isShown = agent.facts.provider.takes?.images === true;
    const readBlob: ReadBlob = isShown ? work.readBlob : async () => undefined;
    const input = await own(callInput(outgoing, readBlob));
    const cache = isShown ? work.caches.withImages : work.caches.withNotes;
    const opening = history && {
      history: await own(cache.show(history, readBlob)),
      stableCount: history.stableCount,
    };
    const session = agent.provider.open({ sessionId: upstreamId, ...opening });
    const tools = offeredTools(agent.facts, options);
    stage = "asked";
    const stream = await session.call(input, {
      signal,
      ...(tools.length > 0 && { tools }),
      ...wantedOf(options, agent),
      ...(progress !== undefined && { turn: progress }),
    });
    stage = "open";
    await report(stream, effect, { ...work, send });
  } catch (error) {
    if (signal.aborted) return;
    // That the session cannot read its log, or write down what it hears, is not the provider's fault.
    if (ownFailure !== undefined) throw ownFailure;
    const { failure, isCertain } = failureOf(error, stage !== "asking");
    // Of what is no error of ours nobody knows how far the call had come.
    const isMade = stage !== "asking" && (stage === "open" || !isCertain || isCut(failure));
    await send({ type: "call-failed", callId, failure, isMade });
  }
}

function failureOf(
  error: unknown,
  isAsked: boolean,
): { readonly failure: Failure; readonly isCertain: boolean } {
  const known = error instanceof SpanlineError ? error.toFailure() : undefined;
  const message = `The provider broke: ${thrownMessage(error)}`;
  const {
    code,
    message: text,
    details,
  } = known ?? { code: "service_failed", message, details: {} };
  const failure = {
    code,
    message: text,
    details: isAsked ? details : { ...details, phase: "connect" },
  };
  return { failure, isCertain: known !== undefined };
}

/** What a call brings; `known` is what the log has, where the agent has not heard it. */
function broughtBy(
  { outgoing }: CallEffect,
  known: Conversation | null,
  { facts }: Agent,
): { readonly outgoing: Outgoing; readonly history?: History } {
  if (known === null) return { outgoing };
  const answers = outgoing.answers !== null;
  const history = historyOf(known, answers);
  if (facts.provider.keepsHistory !== false) return { outgoing, history };
  return { outgoing: { ...outgoing, ...saidSince(known, answers) }, history };
}

/** What the prompt asks for, as far as the provider is to be told. */
function wantedOf(options: PromptOptions | null, { facts }: Agent): Partial<CallOptions> {
  const { instructions, maxOutputTokens, allowedTools, trace } = options ?? {};
  const isTaken = facts.provider.takes?.instructions === true;
  return {
    ...(isTaken && instructions !== undefined && { instructions }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(allowedTools !== undefined && { allowedTools }),
    ...(trace !== undefined && { trace }),
  };
}

async function callInput(outgoing: Outgoing, readBlob: ReadBlob): Promise<CallInput> {
  const { images: kept = [], answers } = outgoing;
  const { images, notes } = await shownImages(kept, readBlob);
  const texts = [...outgoing.texts, ...notes];
  const pictures = images.length === 0 ? {} : { images };
  if (answers === null) return { type: "prompt", texts, ...pictures };
  const { messages, calls } = answers;
  return {
    type: "results",
    turn: { messages, calls: calls.map(({ call }) => call) },
    results: calls.flatMap(({ result }) => (result === null ? [] : [result])),
    ...(texts.length > 0 && { texts }),
    ...pictures,
  };
}

async function report(
  stream: AsyncIterable<ProviderEvent>,
  { callId, options }: CallEffect,
  { agent, clock, coalesceMs, signal, send }: CallWork,
): Promise<void> {
  const batches = coalescer<Said>({
    timer: clock,
    milliseconds: coalesceMs,
    canWait: ({ event }) => isDelta(event),
    join: joined,
    weight,
    deliver: async (said) => {
      await send({ type: "call-said", callId, said });
    },
  });
  let last: ProviderEvent | undefined;
  try {
    for await (const event of stream) {
      if (signal.aborted) return;
      await batches.add(checked(event, agent, options ?? null));
      last = event;
    }
  } finally {
    // What was heard stands, also before a failure; what comes after a stop is nobody's any more.
    await (signal.aborted ? batches.stop() : batches.flush());
  }
  if (last?.type === "end" || signal.aborted) return;
  throw new SpanlineError("incomplete_turn", "The agent's stream stopped and did not say its end");
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

/** In characters, roughly; what could be of any size is waited for. */
function weight({ event }: Said): number {
  switch (event.type) {
    case "tool.end":
      return event.call.inputText.length;
    case "tool.result":
    case "unknown":
      return Infinity;
    default:
      return "text" in event ? event.text.length : 0;
  }
}

function joined({ event: before }: Said, { event }: Said): Said | undefined {
  if (!isDelta(before) || !isDelta(event)) return undefined;
  if (before.type !== event.type || before.block !== event.block) return undefined;
  return { event: { ...before, text: before.text + event.text } };
}

/** Says of a call of ours what is wrong with it, before anybody is asked about it. */
function checked(event: ProviderEvent, agent: Agent, options: PromptOptions | null): Said {
  if (event.type !== "tool.end" || event.call.runBy !== "client") return { event };
  const { name, input } = event.call;
  // What the tools of a prompt take is for whoever brought them to say.
  if (input === null || isPromptTool(options, name)) return { event };
  const tool = agent.tools.get(name);
  if (tool === undefined) {
    const known = [...agent.tools.keys()].join(", ");
    return { event, problem: `There is no tool ${name} here. There is: ${known || "none"}.` };
  }
  const problem = problemWith(tool, input);
  return problem === undefined ? { event } : { event, problem };
}
