import { describe, expect, it } from "vitest";
import { createTimeline } from "./timeline-rows.ts";
import { createUsageRows } from "./usage-rows.ts";
import {
  createEnd,
  createTool,
  createTurn,
  createUser,
  createView,
  START,
} from "../../../test/support/portal/session-views.ts";

const NOW = START + 60_000;

describe("The timeline", () => {
  it("A tool call has its share of the turn", () => {
    const turn = createTurn("t", [createUser(0, "Go"), createTool(4, { path: "a.txt" })]);
    expect(createTimeline(createView([turn]), NOW)).toEqual([
      {
        turnId: "t",
        seq: 0,
        title: "Go",
        durationMs: 10_000,
        isRunning: false,
        omittedCalls: 0,
        calls: [
          {
            key: "tool 4",
            seq: 4,
            name: "read_file",
            about: "a.txt",
            status: { label: "done", tone: "good", isBusy: false },
            durationMs: 2000,
            offset: 0.4,
            length: 0.2,
          },
        ],
      },
    ]);
  });

  it("A running tool call reaches until now, and no bar leaves its turn", () => {
    const running = createTool(30, {}, { ending: null, stage: "running", durationMs: null });
    const long = createTool(50, {}, { durationMs: 99_000 });
    const turn = createTurn("t", [createUser(0, "Go"), running, long], { end: null });
    const [row] = createTimeline(createView([turn]), NOW);
    expect(
      row?.calls.map(({ offset, length }) => [offset, Math.round(length * 1e6) / 1e6]),
    ).toEqual([
      [0.5, 0.5],
      [50 / 60, 0.166667],
    ]);
  });
});

describe("The usage of a session", () => {
  it("Shares are relative to the largest turn, and a turn without reported tokens has none", () => {
    const usage = {
      inputTokens: 100,
      outputTokens: 50,
      cacheReadTokens: 50,
      cacheWriteTokens: 0,
      totalTokens: 200,
    };
    const turns = [
      createTurn("a", [createUser(0, "One")], { end: createEnd({ at: START + 20_000, usage }) }),
      createTurn("b", [createUser(1, "Two")]),
    ];
    expect(createUsageRows(createView(turns), NOW)).toEqual([
      {
        turnId: "a",
        number: 1,
        seq: 0,
        title: "One",
        input: 150,
        cached: 50,
        output: 50,
        durationMs: 20_000,
        inputShare: 0.75,
        outputShare: 0.25,
        timeShare: 1,
      },
      {
        turnId: "b",
        number: 2,
        seq: 1,
        title: "Two",
        input: 0,
        cached: 0,
        output: 0,
        durationMs: 10_000,
        inputShare: 0,
        outputShare: 0,
        timeShare: 0.5,
      },
    ]);
  });
});
