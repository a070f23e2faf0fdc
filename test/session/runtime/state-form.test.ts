import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { STATE_VERSION } from "../../../src/session/session-state.ts";
import { anyAgent } from "../simulation/agent-specs.ts";
import { anyAskingMoved, anyMoved, happeningOf } from "../simulation/moves.ts";
import { anyBoss, anyWorkerMove, toWorkerInput } from "../simulation/worker-moves.ts";
import { simulatedSession } from "../simulation/simulated-session.ts";

const manyMoves = { maxLength: 40, size: "max" } as const;
const anyStory = fc.oneof(
  { weight: 2, arbitrary: fc.tuple(anyAgent, fc.array(anyMoved, manyMoves)) },
  { weight: 1, arbitrary: fc.tuple(anyAgent, fc.array(anyAskingMoved, manyMoves)) },
);

const anyWorkerStory = fc.tuple(anyBoss, fc.array(anyWorkerMove, manyMoves));

/** Every path in a value with the type of its content. Values defined by others are not descended into. */
function* placesIn(value: unknown, place: string): Generator<string> {
  if (FOREIGN.some((end) => place.endsWith(end))) return;
  if (Array.isArray(value)) {
    for (const one of value) yield* placesIn(one, `${place}[]`);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, one] of Object.entries(value)) yield* placesIn(one, `${place}.${name}`);
  } else yield `${place}: ${value === null ? "null" : typeof value}`;
}

const FOREIGN = [".spec", ".rule", ".schema", ".input", ".usage", ".details", ".blocks[].result"];

describe("The state of a session", () => {
  it("The state has the shape recorded for its version: another shape needs another version", async () => {
    const places = new Set<string>();
    for (const [facts, moves] of fc.sample(anyStory, { numRuns: 800, seed: 1 })) {
      const session = simulatedSession(facts, ({ after }) => {
        for (const place of placesIn(after, "state")) places.add(place);
      });
      for (const moved of moves) {
        session.pass(moved.pause);
        session.send(happeningOf(session, moved));
      }
    }
    for (const [boss, moves] of fc.sample(anyWorkerStory, { numRuns: 400, seed: 1 })) {
      const session = simulatedSession(boss, ({ after }) => {
        for (const place of placesIn(after, "state")) places.add(place);
      });
      for (const move of moves) session.send(toWorkerInput(session, move));
    }
    // A changed shape means older snapshots would be misread: increment STATE_VERSION, and the next file is created.
    await expect(`${[...places].sort().join("\n")}\n`).toMatchFileSnapshot(
      `./state-forms/${STATE_VERSION}.txt`,
    );
  });
});
