import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Envelope } from "../../domain/events/envelope.ts";
import { anyAgent } from "../../../test/session/simulation/agent-specs.ts";
import { anyMoved, happeningOf } from "../../../test/session/simulation/moves.ts";
import { simulatedSession } from "../../../test/session/simulation/simulated-session.ts";
import { allowLongTests, runs } from "../../../test/support/test-depth.ts";
import { reduceSession } from "./reduce-session.ts";
import { createSessionFold } from "./session-fold.ts";

allowLongTests();

/** The log of a random session, and random lengths of batches. */
const anyLog = fc
  .tuple(anyAgent, fc.array(anyMoved, { maxLength: 40, size: "max" }))
  .map(([spec, moves]) => {
    const session = simulatedSession(spec, () => undefined);
    for (const moved of moves) {
      session.pass(moved.pause);
      session.send(happeningOf(session, moved));
    }
    return session;
  });
const anyLengths = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 10 });

function* splitLog(log: readonly Envelope[], lengths: readonly number[]): Iterable<Envelope[]> {
  for (let start = 0, batch = 0; start < log.length; batch += 1) {
    const length = lengths[batch % lengths.length] ?? 1;
    yield log.slice(start, start + length);
    start += length;
  }
}

describe("Reducing the log of a random session", () => {
  it("Every split of a log into batches gives the same view, also if batches overlap", () => {
    fc.assert(
      fc.property(anyLog, anyLengths, ({ log }, lengths) => {
        const whole = reduceSession(createSessionFold("ses_1"), log);
        let view = createSessionFold("ses_1");
        let before: readonly Envelope[] = [];
        for (const batch of splitLog(log, lengths)) {
          view = reduceSession(view, [...before, ...batch]);
          view = reduceSession(view, batch);
          before = batch;
        }
        expect(view).toEqual(whole);
      }),
      { numRuns: runs(300) },
    );
  });

  it("The view agrees with the session about its turn, its queue and its open requests", () => {
    fc.assert(
      fc.property(anyLog, ({ log, state }) => {
        const view = reduceSession(createSessionFold("ses_1"), log);
        const open = view.turns.filter(({ end }) => end === null).map(({ turnId }) => turnId);
        expect(open).toEqual(state.turn.current === null ? [] : [state.turn.current.turnId]);
        expect(view.openApprovals.map(({ approvalId }) => approvalId)).toEqual(
          state.approvals.pending.map(({ approvalId }) => approvalId),
        );
        const prompts = view.queue.filter(({ kind }) => kind === "prompt").map(({ id }) => id);
        expect(prompts).toEqual(state.turn.queue.map(({ promptId }) => promptId));
        expect(view.controller).toBe(state.clients.controller);
      }),
      { numRuns: runs(300) },
    );
  });
});
