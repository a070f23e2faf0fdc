import { isObject, toJsonText } from "../data/json.ts";
import { UnexpectedResponseError } from "../domain/provider/provider-error.ts";
import { formatValue } from "../text/format-value.ts";
import { OUTCOMES, type ProviderEvent, type TurnEnd } from "../domain/provider/provider-event.ts";
import type { ProviderOutput } from "./session-input.ts";

/**
 * What was said, as far as a provider may say it. Folds of ours keep to the types; a provider can be anybody's, and
 * what it says must not make a log that nobody understands.
 */
export function sanitizeProviderEvent(output: ProviderOutput): ProviderOutput {
  const { event } = output;
  if (!Object.hasOwn(KNOWN_TYPES, event.type)) return { event: toUnknownEvent(event) };
  const problem = event.type === "end" ? findEndProblem(event) : undefined;
  return problem === undefined ? output : { event: createFailedEnd(problem) };
}

const KNOWN_TYPES: { readonly [Type in ProviderEvent["type"]]: true } = {
  "message.start": true,
  "message.end": true,
  "message.replaced": true,
  "text.delta": true,
  "text.end": true,
  "reasoning.delta": true,
  "reasoning.end": true,
  "tool.start": true,
  "tool.delta": true,
  "tool.end": true,
  "tool.result": true,
  usage: true,
  hook: true,
  activity: true,
  diagnostic: true,
  unknown: true,
  end: true,
};

function toUnknownEvent({ type, ...rest }: { readonly type: unknown }): ProviderEvent {
  const name = typeof type === "string" ? type : typeof type;
  // Whatever it is, the log has to be able to keep it.
  const raw: unknown = JSON.parse(toJsonText({ type, ...rest }));
  return { type: "unknown", what: "event", name, raw };
}

/** Undefined when there is none. */
function findEndProblem({ outcome, reason, openToolCallIds, usage }: Unchecked<TurnEnd>) {
  if (!OUTCOMES.some((known) => known === outcome)) {
    return `outcome is ${formatValue(outcome)}, wanted ${OUTCOMES.join(", ")}`;
  }
  if (reason !== null && typeof reason !== "string") {
    return `reason is ${formatValue(reason)}, wanted text or null`;
  }
  if (!Array.isArray(openToolCallIds))
    return `openToolCallIds is ${formatValue(openToolCallIds)}, wanted a list of ids`;
  if (usage === null || isObject(usage)) return undefined;
  return `usage is ${formatValue(usage)}, wanted tokens or null`;
}

type Unchecked<Event> = { readonly [Name in keyof Event]?: unknown };

/** How it ended is not known: none of its calls waits for us. */
function createFailedEnd(problem: string): TurnEnd {
  const message = `The provider ended the call in a way that there is not: ${problem}`;
  const failure = new UnexpectedResponseError(message, { phase: "stream" }).toFailure();
  return {
    type: "end",
    outcome: "failed",
    reason: null,
    openToolCallIds: [],
    usage: null,
    failure,
  };
}
