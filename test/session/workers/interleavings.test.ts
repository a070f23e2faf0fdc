import { describe, expect, it } from "vitest";
import type { Draft } from "../../../src/domain/events/envelope.ts";
import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import { isTerminalStatus, type WorkerStatus } from "../../../src/domain/workers/worker.ts";
import { decide } from "../../../src/session/decide.ts";
import { findDueEffects } from "../../../src/session/due-effects.ts";
import { evolve } from "../../../src/session/evolve.ts";
import { isQuiet } from "../../../src/session/runtime/driver.ts";
import type { SessionInput, WorkerCycleResult } from "../../../src/session/session-input.ts";
import { initialState, type SessionState } from "../../../src/session/session-state.ts";
import { says } from "../../support/session/scripted-provider.ts";
import { ME } from "../../support/session/session-world.ts";
import { createBoss } from "../../support/session/worker-world.ts";

const usage = { tokens: 5, seconds: 0, toolCalls: 0, invocations: 1, usd: 0 };
const workerId = "worker_x";

/** The state after a command has delegated to a background worker. The id of the worker is fixed. */
function createStart(isRetriggerable: boolean): SessionState {
  const { spec, digest } = createBoss([says("Hi")]);
  const opened = decide(initialState, {
    type: "open-requested",
    agent: { spec, digest },
    principal: ME.id,
    at: 1,
    seed: "0000000000000",
  });
  const spawned: SessionEvent = {
    type: "worker.spawned",
    workerId,
    sessionId: "ses_x",
    agent: "helper",
    name: "x",
    task: "Task",
    mode: "delegated_stage",
    isBackground: true,
    isRetriggerable,
    cycle: 1,
    prompt: "Task",
  };
  return evolve(opened.state, { at: 2, visibility: "public", event: spawned });
}

function finish(
  outcome: WorkerCycleResult["outcome"],
  cycle = 1,
  handoffId?: string,
): SessionInput {
  const handoff = handoffId === undefined ? {} : { handoffId };
  const result = { outcome, text: "Result", reason: null, usage, ...handoff };
  return { type: "worker-finished", workerId, cycle, result };
}

function command(
  given:
    | { readonly type: "trigger-worker"; readonly workerId: string; readonly payload: string }
    | { readonly type: "close-worker"; readonly workerId: string }
    | { readonly type: "end-work" },
): SessionInput {
  const actor = { kind: "user", principal: ME.id } as const;
  return { type: "command-received", command: given, actor, rights: ME.rights };
}

const REQUEST = {
  type: "approval.requested",
  approvalId: "appr_1",
  question: "run",
  options: ["allow", "deny"],
  subjectId: "tool_1",
  action: "look",
  input: {},
  deadline: 1000,
} as const;

const INPUTS: readonly (readonly [string, SessionInput])[] = [
  ["completed", finish("completed")],
  ["completed in cycle 2", finish("completed", 2)],
  ["failed", finish("failed")],
  ["cancelled in its session", finish("cancelled")],
  ["handed over", finish("completed", 1, "handoff_1")],
  ["triggered", command({ type: "trigger-worker", workerId, payload: "next" })],
  ["closed", command({ type: "close-worker", workerId })],
  ["all work ended", command({ type: "end-work" })],
  ["approval requested", { type: "worker-approval-requested", workerId, request: REQUEST }],
  [
    "approval resolved",
    {
      type: "worker-approval-resolved",
      workerId,
      resolution: {
        type: "approval.resolved",
        approvalId: "appr_1",
        decision: "allow",
        resolvedBy: "person",
      },
    },
  ],
  ["at rest", { type: "worker-closed", workerId, usage }],
  ["recovered", { type: "recovery-started", epoch: 2 }],
];

/** The status after each lifecycle event, and the statuses before which the event is allowed. */
const TRANSITIONS: { readonly [type: string]: readonly [WorkerStatus, readonly WorkerStatus[]] } = {
  "worker.spawned": ["running", ["progressed"]],
  "worker.progressed": ["progressed", ["awaiting_input"]],
  "worker.waiting_for_input": ["awaiting_input", ["running"]],
  "worker.completed": ["completed", ["running"]],
  "worker.failed": ["failed", ["running"]],
  "worker.stopped": ["stopped", ["running"]],
  "worker.cancelled": ["cancelled", ["running", "awaiting_input"]],
};

/** Checks the events of a decision. Returns the status after the events, and null after the close. */
function checkEvents(before: WorkerStatus | null, events: readonly Draft[]): WorkerStatus | null {
  let status = before;
  for (const { event } of events) {
    if (event.type === "worker.closed") {
      expect(status !== null && isTerminalStatus(status)).toBe(true);
      status = null;
    }
    const transition = TRANSITIONS[event.type];
    if (transition === undefined) continue;
    const [next, allowed] = transition;
    expect(allowed).toContain(status);
    status = next;
  }
  return status;
}

/** The due effects and the open requests of a state follow from the status of the worker. */
function checkState(state: SessionState, status: WorkerStatus | null): void {
  expect(state.workers.open.map((worker) => worker.status)).toEqual(
    status === null ? [] : [status],
  );
  const due = [...findDueEffects(state).effects.values()].flatMap(({ type }) =>
    type === "run-worker" || type === "follow-worker" || type === "close-worker" ? [type] : [],
  );
  if (status === null) expect(due).toEqual([]);
  else if (status === "awaiting_input") expect(due).toEqual(["follow-worker"]);
  else expect(due).toEqual([isTerminalStatus(status) ? "close-worker" : "run-worker"]);
  const isOpen = state.approvals.pending.length > 0;
  const isResting = status === null || status === "awaiting_input";
  expect(isQuiet(state)).toBe(isResting && !isOpen);
  if (isOpen) expect(status).toMatch(/^(?:running|awaiting_input)$/);
}

/** Plays every sequence of inputs up to a length. Returns the number of sequences. */
function playAll(isRetriggerable: boolean, length: number): number {
  let count = 0;
  const play = (state: SessionState, status: WorkerStatus | null, rest: number): void => {
    count += 1;
    if (rest === 0) return;
    for (const [, input] of INPUTS) {
      const at = state.at + 1;
      const { events, state: after } = decide(state, {
        ...input,
        at,
        seed: `${at}`.padStart(13, "0"),
      });
      expect(events.reduce(evolve, state)).toEqual(after);
      const next = checkEvents(status, events);
      checkState(after, next);
      play(after, next, rest - 1);
    }
  };
  play(createStart(isRetriggerable), "running", length);
  return count;
}

describe("All interleavings of reports and commands about a worker", () => {
  it.each([
    ["one cycle", false],
    ["several cycles", true],
  ])(
    "A worker with %s changes only along the lifecycle, and nothing follows a terminal event [B-120] [B-122] [B-127]",
    (_, isRetriggerable) => {
      expect(playAll(isRetriggerable, 3)).toBe(1 + 12 + 12 ** 2 + 12 ** 3);
    },
  );
});
