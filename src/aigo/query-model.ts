import type { Environment } from "../platform/environment.ts";
import type { HarnessProvider } from "../providers/agentcore/harness-provider.ts";
import type { InvocationInput, InvocationOptions, Provider } from "../providers/provider.ts";
import type { ProviderEvent, TurnEnd } from "../domain/provider/provider-event.ts";
import { encodeConverseEvents } from "../wire/aigo/encode-converse-events.ts";
import { createHarnessEventRecorder } from "../wire/aigo/harness-event-recorder.ts";
import type { ModelInput } from "../wire/aigo/model-input.ts";
import type { RawModelOutput } from "../wire/aigo/model-output.ts";
import { INSTRUCTIONS_AS_TEXT, type Anomaly } from "../wire/responses/anomaly.ts";
import { providerFromEnvironment, type EnvironmentOptions } from "./provider-from-environment.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

export interface QueryOptions extends EnvironmentOptions {
  /** Used instead of the agent named by the environment. Callers may reuse a provider for many turns. */
  readonly provider?: Provider;
  readonly signal?: AbortSignal;
}

/**
 * The second stage: sends one invocation with only the new message, without retries. Throws if the agent fails before
 * its first event. A later failure is returned with all events before it.
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
    ...omitUndefined({ history }),
  };
  const raw = createHarnessEventRecorder();
  const session = provider.open(opening);
  const { input: prompt, invocationOptions, anomalies = [] } = createPrompt(provider, input);
  const call = await session.invoke(prompt, { signal, tap: raw.add, ...invocationOptions });
  const events: ProviderEvent[] = [];
  for await (const event of call) events.push(event);
  const failure = events.findLast((event): event is TurnEnd => event.type === "end")?.failure;
  return {
    session_id: session.id,
    events:
      isHarnessProvider(provider) && raw.events.length > 0
        ? raw.events
        : encodeConverseEvents(events),
    ...omitUndefined({ turn_id: call.requestId, failure, state, ignored }),
    ...(anomalies.length > 0 && { anomalies }),
  };
}

interface ModelPrompt {
  readonly input: InvocationInput;
  readonly invocationOptions?: Pick<InvocationOptions, "instructions">;
  readonly anomalies?: readonly Anomaly[];
}

function isHarnessProvider(provider: Provider): provider is HarnessProvider {
  return provider.name === "agentcore-harness";
}

/**
 * Passes instructions to a provider with this capability, for this invocation. Other agents receive them once as text,
 * before the first message of the session.
 */
function createPrompt(
  { capabilities }: Provider,
  { session_id, user_message, instructions }: ModelInput,
): ModelPrompt {
  const prompt = { type: "prompt", texts: [user_message] } as const;
  if (instructions === undefined) return { input: prompt };
  if (capabilities?.instructions === true)
    return { input: prompt, invocationOptions: { instructions } };
  if (session_id !== "") return { input: prompt };
  const texts = [instructions, user_message];
  return { input: { ...prompt, texts }, anomalies: [INSTRUCTIONS_AS_TEXT] };
}
