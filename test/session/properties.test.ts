import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evolve } from "../../src/session/evolve.ts";
import { initialState } from "../../src/session/session-state.ts";
import { createToolSuccess } from "../../src/domain/tools/tool-call.ts";
import { anyAgent } from "./simulation/agent-specs.ts";
import { logRules } from "./simulation/log-rules.ts";
import {
  anyAskingMoved,
  anyMoved,
  budgetChecked,
  examined,
  giving,
  happeningOf,
  type Moved,
} from "./simulation/moves.ts";
import { SILENCE } from "./simulation/provider-outputs.ts";
import {
  asSnapshot,
  simulatedSession,
  type SimulatedSession,
} from "./simulation/simulated-session.ts";
import { allowLongTests, runs } from "../support/test-depth.ts";

/** Number of stories per property. Undefined: the default of each property. */
const storiesFromEnvironment = process.env["SPANLINE_STORIES"];

// A story takes 3 ms on an idle machine and far more on a busy one.
allowLongTests(100 * Number(storiesFromEnvironment ?? 0));

/**
 * A story: a random agent and up to 40 random inputs. The rules check every event of its log; afterwards the session
 * must come to rest.
 */
const anyStory = fc.tuple(anyAgent, fc.array(anyMoved, { maxLength: 40, size: "max" }));

/** Stories per property; default: enough for every test run. `SPANLINE_STORIES=100000` runs more. */
function storyCount(usual: number): number {
  return Number(storiesFromEnvironment ?? runs(usual));
}

/** An agent with generous caps, so only people and rules end an approval request. */
const anyPatientAgent = anyAgent.map((facts) => {
  const { parallelTools } = facts.caps;
  const caps = { steps: 20, seconds: 100_000, tokens: null, toolCalls: 12, parallelTools };
  return { ...facts, caps, approvalMs: 600_000 };
});
const anyAskingStory = fc.tuple(
  anyPatientAgent,
  fc.array(anyAskingMoved, { maxLength: 40, size: "max" }),
);

function play(session: SimulatedSession, moves: readonly Moved[]): void {
  for (const moved of moves) {
    session.pass(moved.pause);
    session.send(happeningOf(session, moved));
  }
}

/** Performs all due effects, decides all requests, and submits no further prompts. */
function comeToRest(session: SimulatedSession): void {
  for (let round = 0; round < 1000; round++) {
    const { state, effects } = session;
    if (state.turn.current === null) return;
    session.pass(1);
    const [effect] = effects;
    const [approval] = state.approvals.pending;
    const awaited = state.tools.runs.find(({ status }) => status === "waiting-for-host")?.hostWait;
    if (effect?.type === "invoke") {
      session.send({
        type: "provider-events",
        invocationId: effect.invocationId,
        outputs: SILENCE,
      });
    } else if (effect?.type === "run-tool") {
      const { toolCallId, attempt, providerToolCallId } = effect;
      const result = createToolSuccess(providerToolCallId, "ok");
      const ended = { toolCallId, attempt, result, ending: "succeeded", durationMs: 1 } as const;
      session.send({ type: "tool-finished", ...ended });
    } else if (effect?.type === "resolve-paths") {
      session.send(examined(effect, "inside"));
    } else if (effect?.type === "settle-upstream") {
      session.send({
        type: "upstream-settled",
        upstreamId: effect.upstreamId,
        policy: effect.policy,
      });
    } else if (effect?.type === "reserve-budget") {
      session.send(budgetChecked(effect, false));
    } else if (effect?.type === "settle-budget") {
      session.send({ type: "budget-settled", invocationId: effect.invocationId });
    } else if (state.turn.current.pause !== null) {
      const command = giving(session, { do: "give", how: "all", isSpeaking: false });
      const actor = { kind: "user", principal: "me" } as const;
      session.send({ type: "command-received", command, actor, rights: ["prompt", "control"] });
    } else if (approval !== undefined || awaited !== undefined) {
      const until = approval?.deadline ?? awaited?.deadline ?? 0;
      session.pass(Math.max(0, until - session.now));
      session.send({ type: "time-passed" });
    }
  }
}

describe("A session under random inputs in any order", () => {
  it("A session keeps its invariants and comes to rest [ACP-91] [ACP-106]", () => {
    fc.assert(
      fc.property(anyStory, ([facts, moves]) => {
        const session = simulatedSession(facts, logRules(facts));
        play(session, moves);
        comeToRest(session);
        expect(session.state.turn).toMatchObject({ current: null, queue: [] });
      }),
      { numRuns: storyCount(2000) },
    );
  });

  it("A tool runs only if the current rules allow it or enough people approved it [W-02]", () => {
    fc.assert(
      fc.property(anyAskingStory, ([facts, moves]) => {
        const session = simulatedSession(facts, logRules(facts));
        play(session, moves);
        comeToRest(session);
        expect(session.state.turn).toMatchObject({ current: null, queue: [] });
      }),
      { numRuns: storyCount(1000) },
    );
  });

  it("The state equals the fold of the log, from the beginning and from any snapshot", () => {
    fc.assert(
      fc.property(anyStory, fc.nat(), ([facts, moves], cut) => {
        const session = simulatedSession(facts, () => undefined);
        play(session, moves);
        const { log, state } = session;
        expect(log.reduce(evolve, initialState)).toEqual(state);
        const at = cut % log.length;
        const snapshot = asSnapshot(log.slice(0, at).reduce(evolve, initialState));
        expect(log.slice(at).reduce(evolve, snapshot)).toEqual(state);
      }),
      { numRuns: storyCount(300) },
    );
  });
});
