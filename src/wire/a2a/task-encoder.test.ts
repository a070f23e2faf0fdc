import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/support/test-depth.ts";
import { runCodec } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { HarnPlan } from "../../domain/outputs/harn-plan.ts";
import { A2A_V03 } from "./encode-v03.ts";
import { A2A_V1 } from "./encode-v1.ts";
import { withTaskStream } from "./encode-task-stream.ts";
import { PLAN_KEY, SEQUENCE_KEY, WORKER_UPDATE_KEY } from "./extensions.ts";
import { createMessageNote } from "./message-note.ts";
import { createTaskEncoder } from "./task-encoder.ts";
import { createTask } from "./task-snapshot.ts";
import type { PlacedUpdate, TaskUpdate } from "./task.ts";

const SESSION = "ses_0123456789abcdef0123456789abcdef";
const TASK = `task_${SESSION}_1`;
const PLACE = { taskId: TASK, contextId: SESSION };

/** A log whose events belong to the turn of the prompt once the turn has started. */
function log(...events: readonly SessionEvent[]): Envelope[] {
  let turnId: string | undefined;
  return events.map((event, index) => {
    if (event.type === "turn.started") turnId = event.turnId;
    const place = turnId === undefined ? {} : { turnId };
    return { sessionId: SESSION, seq: index + 1, at: index, visibility: "public", event, ...place };
  });
}

const PROMPT: SessionEvent = {
  type: "prompt.accepted",
  promptId: "p",
  content: [{ type: "text", text: "Hi" }],
  note: createMessageNote("msg-1"),
};
const START: SessionEvent = { type: "turn.started", turnId: "t", promptId: "p" };

function end(
  outcome: "completed" | "cancelled" | "limited" | "failed",
  reason: string | null = null,
): SessionEvent {
  return { type: "turn.finished", turnId: "t", outcome, reason, usage: null, steps: 1 };
}

const delta = (text: string): SessionEvent => ({
  type: "text.delta",
  messageId: "m",
  block: 0,
  text,
});
const done = (text: string): SessionEvent => ({
  type: "text.finished",
  messageId: "m",
  block: 0,
  text,
});
const closed: SessionEvent = { type: "message.finished", messageId: "m", reason: null };

const encoder = createTaskEncoder({ sessionId: SESSION, seq: 1 }, null);

function encode(...events: readonly SessionEvent[]): PlacedUpdate[] {
  return runCodec(encoder, log(...events));
}

function updates(...events: readonly SessionEvent[]): TaskUpdate[] {
  return encode(...events).map(({ update }) => update);
}

function states(...events: readonly SessionEvent[]): string[] {
  return updates(...events).flatMap((update) =>
    update.type === "status" ? [update.status.state] : [],
  );
}

function approval(approvalId: string): SessionEvent {
  return {
    type: "approval.requested",
    approvalId,
    question: "run",
    options: ["allow", "deny"],
    subjectId: "tool_1",
    action: "pay",
    input: { amount: 5 },
    deadline: 60_000,
  };
}

function decided(approvalId: string): SessionEvent {
  return { type: "approval.resolved", approvalId, decision: "allow", resolvedBy: "person" };
}

describe("The stream of a task", () => {
  it("A turn becomes a task, its states, and one artifact per message", () => {
    const sent = encode(
      PROMPT,
      START,
      delta("He"),
      delta("llo"),
      done("Hello"),
      closed,
      end("completed"),
    );
    expect(sent.map((placed) => A2A_V1.encodeUpdate(placed))).toEqual([
      {
        task: {
          id: TASK,
          contextId: SESSION,
          status: { state: "TASK_STATE_SUBMITTED", timestamp: "1970-01-01T00:00:00.000Z" },
          history: [{ messageId: "msg-1", ...PLACE, role: "ROLE_USER", parts: [{ text: "Hi" }] }],
          metadata: { [SEQUENCE_KEY]: 1 },
        },
      },
      {
        statusUpdate: {
          ...PLACE,
          status: { state: "TASK_STATE_WORKING", timestamp: "1970-01-01T00:00:00.001Z" },
          metadata: { [SEQUENCE_KEY]: 2 },
        },
      },
      {
        artifactUpdate: {
          ...PLACE,
          artifact: { artifactId: "m", name: "response", parts: [{ text: "He" }] },
          append: false,
          lastChunk: false,
          metadata: { [SEQUENCE_KEY]: 3 },
        },
      },
      {
        artifactUpdate: {
          ...PLACE,
          artifact: { artifactId: "m", name: "response", parts: [{ text: "llo" }] },
          append: true,
          lastChunk: false,
          metadata: { [SEQUENCE_KEY]: 4 },
        },
      },
      {
        artifactUpdate: {
          ...PLACE,
          artifact: { artifactId: "m", name: "response", parts: [{ text: "" }] },
          append: true,
          lastChunk: true,
          metadata: { [SEQUENCE_KEY]: 6 },
        },
      },
      {
        statusUpdate: {
          ...PLACE,
          status: { state: "TASK_STATE_COMPLETED", timestamp: "1970-01-01T00:00:00.006Z" },
          metadata: { [SEQUENCE_KEY]: 7 },
        },
      },
    ]);
  });

  it("The same task has a kind and a final flag in version 0.3", () => {
    const sent = encode(PROMPT, START, delta("Hi"), end("completed")).map((placed) =>
      A2A_V03.encodeUpdate(placed),
    );
    expect(sent).toMatchObject([
      {
        kind: "task",
        id: TASK,
        status: { state: "submitted" },
        history: [{ kind: "message", role: "user", parts: [{ kind: "text", text: "Hi" }] }],
      },
      { kind: "status-update", status: { state: "working" }, final: false },
      {
        kind: "artifact-update",
        artifact: { parts: [{ kind: "text", text: "Hi" }] },
        append: false,
      },
      { kind: "status-update", status: { state: "completed" }, final: true },
    ]);
  });

  it("A text whose deltas were dropped from the log is sent whole, in place of its pieces", () => {
    expect(updates(PROMPT, START, delta("He"), done("Hello"), closed).slice(2)).toEqual([
      expect.objectContaining({
        artifact: expect.objectContaining({ parts: [{ type: "text", text: "He" }] }),
      }),
      {
        type: "artifact",
        artifact: { artifactId: "m", name: "response", parts: [{ type: "text", text: "Hello" }] },
        isAppended: false,
        isLast: false,
      },
      expect.objectContaining({ isAppended: true, isLast: true }),
    ]);
  });

  it("A replaced message replaces its artifact", () => {
    const replaced: SessionEvent = { type: "message.replaced", messageId: "m", text: "No" };
    expect(updates(PROMPT, START, delta("Yes"), replaced).at(-1)).toMatchObject({
      artifact: { artifactId: "m", parts: [{ text: "No" }] },
      isAppended: false,
    });
  });

  it("Events of another turn are not part of a queued task", () => {
    const other: SessionEvent = { type: "turn.started", turnId: "other", promptId: "q" };
    expect(states(PROMPT, other, delta("x"))).toEqual([]);
    expect(updates(PROMPT, other, delta("x"))).toHaveLength(1);
  });

  it.each([
    ["completed", "completed", undefined],
    ["cancelled", "canceled", "cancelled"],
    ["limited", "failed", "max_steps"],
    ["failed", "failed", "max_steps"],
  ] as const)("A turn with the outcome %s ends its task as %s", (outcome, state, reason) => {
    const [last] = updates(
      PROMPT,
      START,
      end(outcome, outcome === "cancelled" ? null : "max_steps"),
    ).slice(-1);
    expect(last).toMatchObject({
      type: "status",
      status: { state, ...(reason !== undefined && { reason }) },
    });
  });

  it("A withdrawn prompt is a canceled task, and no later event is part of it", () => {
    const withdrawn: SessionEvent = { type: "prompt.withdrawn", promptId: "p", reason: "caller" };
    expect(states(PROMPT, withdrawn, START, end("completed"))).toEqual(["canceled"]);
  });

  it("A task with two open requests needs input until both are decided [W-22]", () => {
    const before = [PROMPT, START, approval("a"), approval("b")];
    expect(states(...before)).toEqual(["working", "input-required", "input-required"]);
    expect(states(...before, decided("a"))).toEqual([
      "working",
      "input-required",
      "input-required",
      "input-required",
    ]);
    const [afterFirst] = updates(...before, decided("a")).slice(-1);
    expect(afterFirst).toMatchObject({ status: { message: { messageId: "b" } } });
    expect(states(...before, decided("a"), decided("b")).at(-1)).toBe("working");
    expect(states(...before, decided("b"), decided("a")).at(-1)).toBe("working");
  });

  it("A request names the tool, its arguments and the possible replies, as text and as data", () => {
    const [request] = updates(PROMPT, START, approval("a")).slice(-1);
    expect(request).toMatchObject({
      status: {
        message: {
          messageId: "a",
          role: "agent",
          parts: [
            {
              type: "text",
              text: 'Approval needed: pay {"amount":5}\n\nReply with one of: allow, deny',
            },
            {
              type: "data",
              data: {
                approvalId: "a",
                action: "pay",
                input: { amount: 5 },
                options: ["allow", "deny"],
                deadline: "1970-01-01T00:01:00.000Z",
              },
            },
          ],
        },
      },
    });
  });

  it("A snapshot contains the texts of all blocks, the artifacts and the open request", () => {
    const fold = encoder.initial();
    const second: SessionEvent = { type: "text.delta", messageId: "m", block: 1, text: "B" };
    for (const envelope of log(PROMPT, START, second, delta("A"), approval("a"))) {
      encoder.step(fold, envelope, () => {});
    }
    expect(createTask(fold)).toMatchObject({
      ...PLACE,
      sequence: 5,
      status: { state: "input-required", message: { messageId: "a" } },
      artifacts: [{ artifactId: "m", parts: [{ text: "A" }, { text: "B" }] }],
    });
  });

  it("Each event causes at most one update, whose position is the event's", () => {
    const events = [
      START,
      delta("a"),
      done("ab"),
      closed,
      approval("a"),
      decided("a"),
      end("completed"),
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events), { maxLength: 20 }), (rest) => {
        const sequences = encode(PROMPT, ...rest).map(({ sequence }) => sequence);
        expect(new Set(sequences).size).toBe(sequences.length);
        expect(sequences).toEqual([...sequences].sort((left, right) => left - right));
      }),
      { numRuns: runs(200) },
    );
  });

  it("The parts of all artifact updates build the artifact of the snapshot", () => {
    const pieces = fc.array(fc.string({ minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(pieces, fc.integer({ min: 0, max: 8 }), (texts, dropped) => {
        // Retention may have dropped any deltas of a finished text.
        const deltas = texts.slice(Math.min(dropped, texts.length)).map(delta);
        const events = [PROMPT, START, ...deltas, done(texts.join("")), closed];
        let parts: string[] = [];
        for (const update of updates(...events)) {
          if (update.type !== "artifact") continue;
          const sent = update.artifact.parts.map((part) => (part.type === "text" ? part.text : ""));
          parts = update.isAppended ? [...parts, ...sent] : sent;
        }
        expect(parts.join("")).toBe(texts.join(""));
      }),
      { numRuns: runs(200) },
    );
  });
});

const PLAN: HarnPlan = {
  id: "plan_0123456789ab",
  _type: "plan_artifact",
  schema_version: "harn.plan.v1",
  tool: "emit_plan",
  title: "Release",
  summary: "",
  steps: [{ id: "s1", content: "Test", status: "pending", priority: null }],
  assumptions: [],
  open_questions: [],
  verification_commands: [],
  approval: { state: "unrequested" },
};
const ENTRIES = [
  { content: "Test", status: "completed", priority: "high" },
  { content: "Build\nall", status: "in_progress", priority: "medium" },
  { content: "Ship", status: "blocked", priority: "low" },
] as const;

describe("Plans, progress and workers", () => {
  const stream = withTaskStream(A2A_V1);
  const lastEntry = (...events: readonly SessionEvent[]): object | undefined =>
    encode(PROMPT, START, ...events)
      .map((placed) => stream.encodeUpdate(placed))
      .at(-1);

  it("A plan is a harn_plan entry with ACP's entries and the normalized plan [B-134]", () => {
    const planned: SessionEvent = {
      type: "plan.updated",
      entries: [ENTRIES[0], ENTRIES[2]],
      plan: PLAN,
    };
    const entries = [
      ENTRIES[0],
      {
        content: "Ship",
        status: "pending",
        priority: "low",
        _meta: { harn: { status: "blocked" } },
      },
    ];
    expect(lastEntry(planned)).toEqual({
      type: "harn_plan",
      ...PLACE,
      sequence: 3,
      entries,
      plan: PLAN,
    });
    expect(
      encode(PROMPT, START, planned)
        .map((placed) => A2A_V1.encodeUpdate(placed))
        .at(-1),
    ).toMatchObject({
      statusUpdate: {
        status: { state: "TASK_STATE_WORKING" },
        metadata: { [PLAN_KEY]: { entries, plan: PLAN } },
      },
    });
  });

  it("Progress is a status that is not the last, with a message, and the end has its own status [B-135] [B-137]", () => {
    const report: SessionEvent = {
      type: "progress.reported",
      message: "Reading",
      phase: "narration",
      progress: 3,
      total: 10,
      data: null,
    };
    expect(lastEntry(report)).toMatchObject({
      type: "status",
      status: { state: "working", message: { parts: [{ text: "Reading (3 of 10)" }] } },
      final: false,
    });
    expect(lastEntry(report, end("completed"))).toEqual({
      type: "status",
      ...PLACE,
      sequence: 4,
      status: { state: "completed", timestamp: "1970-01-01T00:00:00.003Z" },
      final: true,
    });
  });

  it("Entries of a progress report are a checklist with the same bytes every time [B-136]", () => {
    const report: SessionEvent = {
      type: "plan.updated",
      entries: ENTRIES,
      plan: { ...PLAN, tool: "agent_progress" },
    };
    const text = "- [x] Test\n- [ ] Build all (in progress)\n- [ ] Ship (blocked)";
    for (const round of [1, 2]) {
      expect(lastEntry(report), `round ${round}`).toMatchObject({
        type: "status",
        status: { state: "working", message: { parts: [{ text }] } },
        final: false,
      });
    }
  });

  it("Progress does not hide an open request [W-22]", () => {
    const report: SessionEvent = {
      type: "progress.reported",
      message: "Still here",
      phase: "narration",
      progress: null,
      total: null,
      data: null,
    };
    expect(states(PROMPT, START, approval("a"), report).at(-1)).toBe("input-required");
    const fold = encoder.initial();
    for (const envelope of log(PROMPT, START, approval("a"), report))
      encoder.step(fold, envelope, () => {});
    expect(createTask(fold).status.message?.messageId).toBe("a");
  });

  const spawned: SessionEvent = {
    type: "worker.spawned",
    workerId: "w",
    sessionId: "child",
    agent: "reviewer",
    name: "captain",
    task: "Review",
    mode: "delegated_stage",
    isBackground: false,
    isRetriggerable: false,
    cycle: 1,
    prompt: "Review",
  };

  it("A worker of the task is a worker_update entry with its fields at the root [B-132] [B-133]", () => {
    expect(lastEntry(spawned)).toMatchObject({
      type: "worker_update",
      ...PLACE,
      workerId: "w",
      workerName: "captain",
      workerTask: "Review",
      workerMode: "delegated_stage",
      event: "WorkerSpawned",
      status: "running",
      terminal: false,
    });
    expect(lastEntry(spawned)).not.toHaveProperty("_meta");
    expect(
      encode(PROMPT, START, spawned)
        .map((placed) => A2A_V1.encodeUpdate(placed))
        .at(-1),
    ).toMatchObject({
      statusUpdate: {
        metadata: { [WORKER_UPDATE_KEY]: { workerId: "w", event: "WorkerSpawned" } },
      },
    });
  });

  it("A plan or a worker does not hide an open request from clients without these entries [W-22]", () => {
    for (const event of [spawned, { type: "plan.updated", entries: ENTRIES } as const]) {
      const [last] = encode(PROMPT, START, approval("a"), event).slice(-1);
      if (last === undefined) throw new Error("No update");
      expect(A2A_V1.encodeUpdate(last)).toMatchObject({
        statusUpdate: {
          status: { state: "TASK_STATE_INPUT_REQUIRED", message: { messageId: "a" } },
        },
      });
      expect(A2A_V03.encodeUpdate(last)).toMatchObject({ status: { state: "input-required" } });
    }
  });

  it("A worker of another task is not part of the stream [B-132]", () => {
    const completed: SessionEvent = {
      type: "worker.completed",
      workerId: "w",
      result: { text: "", usage: { tokens: 0, seconds: 0, toolCalls: 0, invocations: 0, usd: 0 } },
    };
    const kinds = (...events: readonly SessionEvent[]): string[] =>
      updates(...events).map(({ type }) => type);
    expect(kinds(PROMPT, spawned, START, completed)).toEqual(["task", "status"]);
    expect(kinds(PROMPT, START, spawned, completed)).toEqual([
      "task",
      "status",
      "worker_update",
      "worker_update",
    ]);
  });

  it("Artifacts and handoffs are artifacts of the task", () => {
    const artifact: SessionEvent = {
      type: "artifact.emitted",
      artifactId: "art",
      kind: "table",
      title: null,
      mimeType: "application/vnd.harn.table+json",
      spec: { columns: ["a"], rows: [[1]] },
      fallback: "a: 1",
      sizeBytes: 30,
      provenance: {},
      metadata: { by: "test", sha256: "forged" },
      sha256: "00",
    };
    expect(updates(PROMPT, START, artifact).at(-1)).toEqual({
      type: "artifact",
      artifact: {
        artifactId: "art",
        name: "table",
        parts: [
          {
            type: "data",
            data: { columns: ["a"], rows: [[1]] },
            mediaType: "application/vnd.harn.table+json",
          },
          { type: "text", text: "a: 1" },
        ],
        metadata: { kind: "table", sizeBytes: 30, provenance: {}, sha256: "00", by: "test" },
      },
      isAppended: false,
      isLast: true,
    });
  });
});
