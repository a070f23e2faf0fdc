import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evolve } from "../../../src/session/evolve.ts";
import { initialState } from "../../../src/session/session-state.ts";
import {
  asSnapshot,
  simulatedSession,
  type SimulatedSession,
} from "../simulation/simulated-session.ts";
import {
  anyBoss,
  anyWorkerMove,
  performNextEffect,
  toWorkerInput,
  type WorkerMove,
} from "../simulation/worker-moves.ts";
import { workerRules } from "../simulation/worker-rules.ts";
import { allowLongTests, runs } from "../../support/test-depth.ts";

allowLongTests();

const anyStory = fc.tuple(anyBoss, fc.array(anyWorkerMove, { maxLength: 50, size: "max" }));

function play(session: SimulatedSession, moves: readonly WorkerMove[]): void {
  for (const move of moves) {
    session.pass(1);
    session.send(toWorkerInput(session, move));
  }
}

/** Performs all due effects. Requests for a larger budget are not answered. */
function comeToRest(session: SimulatedSession): void {
  for (let round = 0; round < 1000; round++) {
    const isResting = session.effects.every(({ type }) => type === "follow-worker");
    const request = session.state.approvals.pending.find(({ worker }) => worker === undefined);
    session.pass(1);
    if (!isResting) session.send(performNextEffect(session, { calls: [], pick: 0 }));
    else if (request === undefined) return;
    else {
      session.pass(Math.max(0, request.deadline - session.now));
      session.send({ type: "time-passed" });
    }
  }
  throw new Error("The session did not come to rest");
}

describe("A session with workers under random inputs in any order", () => {
  it("No worker is doubled or orphaned, each ends once, and the end of all work closes every worker [B-120] [B-127]", () => {
    fc.assert(
      fc.property(anyStory, ([boss, moves]) => {
        const session = simulatedSession(boss, workerRules(boss));
        play(session, moves);
        comeToRest(session);
        expect(session.state.turn).toMatchObject({ current: null, queue: [] });
        const statuses = session.state.workers.open.map(({ status }) => status);
        expect(statuses.filter((status) => status !== "awaiting_input")).toEqual([]);
        session.send(toWorkerInput(session, { do: "end-work" }));
        comeToRest(session);
        expect(session.state.workers.open).toEqual([]);
        expect(session.state.approvals.pending).toEqual([]);
      }),
      { numRuns: runs(2000) },
    );
  });

  it("The state with workers equals the fold of the log, from the beginning and from any snapshot", () => {
    fc.assert(
      fc.property(anyStory, fc.nat(), ([boss, moves], cut) => {
        const session = simulatedSession(boss, () => undefined);
        play(session, moves);
        const { log, state } = session;
        expect(log.reduce(evolve, initialState)).toEqual(state);
        const at = cut % log.length;
        const snapshot = asSnapshot(log.slice(0, at).reduce(evolve, initialState));
        expect(log.slice(at).reduce(evolve, snapshot)).toEqual(state);
      }),
      { numRuns: runs(300) },
    );
  });
});
