import type { Emit } from "./codec.ts";
import type { Envelope } from "./events/envelope.ts";
import type { SessionEvent, SessionEventType } from "./events/session-event.ts";

/**
 * How a surface encodes each session event. The table is total over the `SessionEvent` union: a new variant is a
 * compile error in every table until the table maps it or names why it is silent.
 */
export type EventRules<State, Out> = {
  readonly [Type in SessionEventType]: EventRule<State, Out, EventOf<Type>>;
};

/** Exactly one of the two: the reason for no output, or the function which encodes the event. */
type EventRule<State, Out, Event extends SessionEvent> = SilentRule | MappedRule<State, Out, Event>;

interface SilentRule {
  readonly silent: string;
  readonly encode?: undefined;
}

interface MappedRule<State, Out, Event extends SessionEvent> {
  readonly silent?: undefined;
  readonly encode: EncodeEvent<State, Out, Event>;
  /** The rule is skipped if this returns false. Default: the rule always applies. */
  readonly applies?: Condition<State>;
}

type Condition<State> = (state: State, envelope: Envelope) => boolean;

type EncodeEvent<State, Out, Event extends SessionEvent> = (
  state: State,
  event: Event,
  emit: Emit<Out>,
  envelope: Envelope,
) => void;

export type EventOf<Type extends SessionEventType> = Extract<SessionEvent, { readonly type: Type }>;

export function mapped<State, Out, Event extends SessionEvent>(
  encode: EncodeEvent<State, Out, Event>,
): MappedRule<State, Out, Event> {
  return { encode };
}

/** Returns a variant of `mapped` whose rules encode an event only if `applies` returns true. */
export function mappedIf<State>(applies: Condition<State>) {
  return <Out, Event extends SessionEvent>(
    encode: EncodeEvent<State, Out, Event>,
  ): MappedRule<State, Out, Event> => ({ encode, applies });
}

export function silent(reason: string): SilentRule {
  return { silent: reason };
}

/** Rules for a group of events which are silent for the same reason. */
export function silentGroup<const Type extends SessionEventType>(
  reason: string,
  types: readonly Type[],
): Readonly<Record<Type, SilentRule>> {
  const rule = silent(reason);
  // `fromEntries` loses the key type; the entries are exactly `types`.
  return Object.fromEntries(types.map((type) => [type, rule])) as Record<Type, SilentRule>;
}

/** Encodes an event by its rule. A silent rule emits nothing. */
export function applyEventRule<State, Out>(
  rules: EventRules<State, Out>,
  state: State,
  envelope: Envelope,
  emit: Emit<Out>,
): void {
  encodeByType(rules, envelope.event.type, envelope.event, { state, envelope, emit });
}

/** The type parameter ties an event to its rule. */
function encodeByType<State, Out, Type extends SessionEventType>(
  rules: EventRules<State, Out>,
  type: Type,
  event: EventOf<Type>,
  { state, envelope, emit }: EncodeContext<State, Out>,
): void {
  const rule = rules[type];
  if (rule.encode === undefined || rule.applies?.(state, envelope) === false) return;
  rule.encode(state, event, emit, envelope);
}

interface EncodeContext<State, Out> {
  readonly state: State;
  readonly envelope: Envelope;
  readonly emit: Emit<Out>;
}
