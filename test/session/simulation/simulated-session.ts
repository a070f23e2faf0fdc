import type { AgentSpec } from "../../../src/domain/agent-spec.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import { ID_ALPHABET, SEED_LENGTH } from "../../../src/data/id-alphabet.ts";
import type { CommandReply } from "../../../src/domain/session-command.ts";
import { decide } from "../../../src/session/decide.ts";
import { findDueEffects, type Effect } from "../../../src/session/due-effects.ts";
import { evolve } from "../../../src/session/evolve.ts";
import type { SessionInput } from "../../../src/session/session-input.ts";
import { initialState, type SessionState } from "../../../src/session/session-state.ts";

/** One input with the state before and after it, its events and its reply. */
export interface Step {
  readonly happening: SessionInput;
  readonly at: number;
  readonly before: SessionState;
  readonly after: SessionState;
  readonly events: readonly Envelope[];
  readonly reply: CommandReply | undefined;
}

/** The pure core with a log in memory: a driver without effects. */
export interface SimulatedSession {
  readonly state: SessionState;
  readonly log: readonly Envelope[];
  readonly effects: readonly Effect[];
  readonly now: number;
  send(happening: SessionInput): Step;
  pass(milliseconds: number): void;
  /** Kills the process; the next one starts from the log or from a snapshot. */
  kill(from: "log" | "snapshot"): void;
}

export function simulatedSession(spec: AgentSpec, check: (step: Step) => void): SimulatedSession {
  const log: Envelope[] = [];
  let state = initialState;
  let now = Date.UTC(2026, 10, 16);
  let count = 0;

  const send = (happening: SessionInput): Step => {
    count += 1;
    const before = state;
    const { events: drafts, reply } = decide(before, { ...happening, at: now, seed: seed(count) });
    const events: Envelope[] = [];
    for (const draft of drafts) {
      state = evolve(state, draft);
      events.push({ ...draft, sessionId: "ses_1", seq: state.seq });
    }
    log.push(...events);
    const step = { happening, at: now, before, after: state, events, reply };
    check(step);
    return step;
  };

  send({ type: "open-requested", agent: { digest: "digest", spec }, principal: "me" });
  return {
    get state() {
      return state;
    },
    log,
    get effects() {
      return [...findDueEffects(state).effects.values()];
    },
    get now() {
      return now;
    },
    send,
    pass(milliseconds) {
      now += milliseconds;
    },
    kill(from) {
      state = from === "log" ? log.reduce(evolve, initialState) : asSnapshot(state);
    },
  };
}

/** Returns a state as restored from JSON. */
export function asSnapshot(state: SessionState): SessionState {
  return JSON.parse(JSON.stringify(state));
}

function seed(count: number): string {
  let text = "";
  for (let rest = count; text.length < SEED_LENGTH; rest = Math.floor(rest / 32)) {
    text = ID_ALPHABET.charAt(rest % 32) + text;
  }
  return text;
}
