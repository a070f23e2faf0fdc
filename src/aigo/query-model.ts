import type { Environment } from "../platform/environment.ts";
import type { HarnessProvider } from "../providers/agentcore-harness/harness-provider.ts";
import type {
  CallOptions,
  Provider,
  ProviderCall,
  ProviderSession,
} from "../providers/provider.ts";
import type { ProviderEvent, TurnEnd } from "../domain/provider-event.ts";
import { converseEvents } from "../wire/aigo/converse-events.ts";
import { harnessEvents } from "../wire/aigo/harness-events.ts";
import type { ModelInput } from "../wire/aigo/model-input.ts";
import type { RawModelOutput } from "../wire/aigo/model-output.ts";
import { providerFromEnvironment, type EnvironmentOptions } from "./provider-from-environment.ts";

export interface QueryOptions extends EnvironmentOptions {
  /** In place of the agent that the environment names; also for whoever keeps one for many turns. */
  readonly provider?: Provider;
  readonly signal?: AbortSignal;
}

/**
 * The second stage: one call, made once, with only what is new. Throws while the agent has not begun to answer; what breaks
 * off later is given back with all that came before it.
 */
export async function queryModel(
  input: ModelInput,
  environment: Environment,
  options: QueryOptions = {},
): Promise<RawModelOutput> {
  const { signal = new AbortController().signal } = options;
  const provider = options.provider ?? providerFromEnvironment(environment, options);
  const { session_id, history, state, ignored } = input;
  const opening = {
    ...(session_id !== "" && { sessionId: session_id }),
    ...(history !== undefined && { history }),
  };
  const raw = harnessEvents();
  const callOptions = { signal, tap: raw.add };
  const { call, session } = isHarness(provider)
    ? await callHarness(provider.open(opening), input, callOptions)
    : await callOther(provider.open(opening), input, callOptions);
  const heard: ProviderEvent[] = [];
  for await (const event of call) heard.push(event);
  const failure = heard.findLast((event): event is TurnEnd => event.type === "end")?.failure;
  return {
    session_id: session.id,
    events: isHarness(provider) && raw.events.length > 0 ? raw.events : converseEvents(heard),
    ...(call.requestId !== undefined && { turn_id: call.requestId }),
    ...(failure !== undefined && { failure }),
    ...(state !== undefined && { state }),
    ...(ignored !== undefined && { ignored }),
  };
}

interface Called {
  readonly call: ProviderCall;
  readonly session: ProviderSession;
}

function isHarness(provider: Provider): provider is HarnessProvider {
  return provider.name === "agentcore-harness";
}

/** A harness takes instructions in place of those that it was deployed with, for one call. */
async function callHarness(
  session: ReturnType<HarnessProvider["open"]>,
  { user_message, instructions }: ModelInput,
  options: CallOptions,
): Promise<Called> {
  const overrides = instructions === undefined ? {} : { systemPrompt: instructions };
  const prompt = { type: "prompt", texts: [user_message] } as const;
  return { session, call: await session.call(prompt, { ...options, overrides }) };
}

/** Others are told them once, before the first word of the user's. */
async function callOther(
  session: ProviderSession,
  { session_id, user_message, instructions }: ModelInput,
  options: CallOptions,
): Promise<Called> {
  const isTold = instructions === undefined || session_id !== "";
  const texts = isTold ? [user_message] : [instructions, user_message];
  return { session, call: await session.call({ type: "prompt", texts }, options) };
}
