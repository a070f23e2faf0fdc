import type { JsonObject } from "../../../src/data/json.ts";
import type { ProviderEvent, Role } from "../../../src/domain/provider/provider-event.ts";
import {
  createToolCall,
  createToolSuccess,
  type Runner,
} from "../../../src/domain/tools/tool-call.ts";
import {
  waitForAbort,
  createTurnEnd,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";

/** One invocation of the agent. */
export interface AgentCall {
  /** The session id under which the agent was invoked. */
  readonly sessionId: string;
  readonly instructions?: string;
  /** Messages from before the session; only in its first invocation. */
  readonly history: readonly { readonly role: string; readonly text: string }[];
  /** New messages only. */
  readonly texts: readonly string[];
  /** Results of client tools, as text. */
  readonly results: readonly string[];
  /** Names of the client tools. */
  readonly tools: readonly string[];
}

/** The agent's behaviour in one invocation, in this order: run its own tools, send a message, call client tools. */
export interface AgentTurn {
  /** The turn starts when this promise resolves. */
  readonly waits?: Promise<unknown>;
  readonly runs?: readonly Ran[];
  readonly says?: string;
  readonly calls?: readonly Called[];
  /** If true, the turn sends no further events and does not end. */
  readonly hangs?: true;
}

export interface Called {
  readonly id: string;
  readonly name: string;
  readonly input?: JsonObject;
}

export interface Ran extends Called {
  readonly result: string;
}

/** One turn per invocation, in order, or a function from an invocation to its turn. */
export type AgentScript = readonly AgentTurn[] | ((call: AgentCall) => AgentTurn);

export function turnFor(script: AgentScript, call: AgentCall, nth: number): AgentTurn {
  if (typeof script === "function") return script(call);
  const turn = script[nth];
  if (turn === undefined)
    throw new Error(`The agent was called ${nth + 1} times, which no turn is for`);
  return turn;
}

/** Converts a turn to a provider script. `interrupted` is called when a hanging turn is aborted. */
export function asAnswer(turn: AgentTurn, interrupted: () => void): ProviderScript {
  return async function* (signal) {
    await turn.waits;
    yield* eventsOf(turn);
    if (turn.hangs === true) {
      await waitForAbort(signal);
      interrupted();
      throw signal.reason;
    }
    const openToolCallIds = (turn.calls ?? []).map(({ id }) => id);
    const isOpen = openToolCallIds.length > 0;
    const outcome = isOpen ? "action-required" : "completed";
    yield createTurnEnd({
      outcome,
      reason: isOpen ? "tool_use" : "end_turn",
      openToolCallIds,
      usage: USAGE,
    });
  };
}

const USAGE = {
  inputTokens: 10,
  outputTokens: 5,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  totalTokens: 15,
};

function eventsOf({ runs = [], says, calls = [], hangs }: AgentTurn): ProviderEvent[] {
  const events: ProviderEvent[] = [];
  let [message, block] = [0, 0];
  const inMessage = (role: Role, reason: string, say: () => void): void => {
    events.push({ type: "message.start", message, role });
    say();
    if (hangs !== true || reason !== "end_turn") {
      events.push({ type: "message.end", message, reason });
    }
    message += 1;
  };
  const call = ({ id, name, input = {} }: Called, runBy: Runner): void => {
    const at = { message, block: block++ };
    const call = createToolCall({ id, name, inputText: JSON.stringify(input), runBy });
    events.push(
      { type: "tool.start", ...at, toolCallId: id, name },
      { type: "tool.end", ...at, toolCall: call },
    );
  };
  if (runs.length > 0) {
    inMessage("assistant", "tool_use", () => runs.forEach((ran) => call(ran, "server")));
    inMessage("user", "tool_result", () => {
      for (const { id, result } of runs) {
        const at = { message, block: block++ };
        events.push({ type: "tool.result", ...at, result: createToolSuccess(id, result) });
      }
    });
  }
  inMessage("assistant", calls.length > 0 ? "tool_use" : "end_turn", () => {
    if (says !== undefined) {
      const at = { message, block: block++ };
      for (const text of says.match(/\S+\s*/g) ?? []) {
        events.push({ type: "text.delta", ...at, text });
      }
      if (hangs !== true) events.push({ type: "text.end", ...at, text: says });
    }
    for (const called of calls) call(called, "client");
  });
  return events;
}
