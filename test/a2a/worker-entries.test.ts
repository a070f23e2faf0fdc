import { expect, it } from "vitest";
import { runCodec } from "../../src/domain/codec.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import type { WorkerSpawned } from "../../src/domain/events/worker-events.ts";
import { A2A_V1 } from "../../src/wire/a2a/encode-v1.ts";
import { withTaskStream } from "../../src/wire/a2a/encode-task-stream.ts";
import { createTaskEncoder } from "../../src/wire/a2a/task-encoder.ts";
import { encodeAcpUpdates, HOST_PROFILE } from "../support/acp/encode-acp-updates.ts";

const SPAWNED: WorkerSpawned = {
  type: "worker.spawned",
  workerId: "worker_1",
  sessionId: "ses_child",
  agent: "reviewer",
  name: "captain",
  task: "Review",
  mode: "delegated_stage",
  isBackground: false,
  isRetriggerable: true,
  cycle: 1,
  prompt: "Review",
  toolCallId: "tool_1",
};
const usage = { tokens: 1, seconds: 2, toolCalls: 3, invocations: 4, usd: 5 };
const result = { text: "Fine", usage, artifactCount: 2 };
const { workerId } = SPAWNED;

/** Every lifecycle event, each after a spawn. */
const LIVES: readonly (readonly [SessionEvent, ...SessionEvent[]])[] = [
  [SPAWNED],
  [{ ...SPAWNED, name: "mate" }],
  [{ ...SPAWNED, task: "Test", mode: "background" }],
  [
    SPAWNED,
    { type: "worker.waiting_for_input", workerId, result },
    { type: "worker.progressed", workerId, payload: {} },
  ],
  [SPAWNED, { type: "worker.completed", workerId, result }],
  [
    SPAWNED,
    {
      type: "worker.failed",
      workerId,
      usage,
      failure: { code: "agent_failed", message: "No", details: {} },
    },
  ],
  [SPAWNED, { type: "worker.stopped", workerId, result, handoffId: "handoff_1" }],
  [SPAWNED, { type: "worker.cancelled", workerId, reason: "closed" }],
];

const BEFORE: readonly SessionEvent[] = [
  { type: "prompt.accepted", promptId: "p", content: [{ type: "text", text: "Go" }] },
  { type: "turn.started", turnId: "turn_1", promptId: "p" },
];

/** The entries of A2A, from the same log as `encodeAcpOutputs` encodes for ACP. */
function encodeEntries(events: readonly SessionEvent[]): object[] {
  const log = events.map((event, at): Envelope => {
    const place = { sessionId: "s", seq: at + 1, at: at * 1000, turnId: "turn_1" };
    return { ...place, visibility: "public", event };
  });
  const stream = withTaskStream(A2A_V1);
  return runCodec(createTaskEncoder({ sessionId: "s", seq: 1 }, null), log).flatMap((placed) =>
    placed.update.type === "worker_update" ? [stream.encodeUpdate(placed)] : [],
  );
}

/** The fields of the updates of ACP. */
function encodeFields(events: readonly SessionEvent[]): object[] {
  return encodeAcpUpdates(events, HOST_PROFILE).flatMap((update) => {
    const { sessionUpdate, _meta: meta } = Object(update);
    return sessionUpdate === "worker_update" ? [Object(meta).harn] : [];
  });
}

it.each(LIVES)(
  "ACP and A2A send the same fields of a worker event, and a change of the event changes both (life %#) [B-131]",
  (...events) => {
    const log = [...BEFORE, ...events];
    const place = { type: "worker_update", taskId: "task_s_1", contextId: "s" };
    const fields = encodeFields(log);
    expect(encodeEntries(log)).toEqual(
      fields.map((harn, at) => ({ ...place, sequence: at + BEFORE.length + 1, ...harn })),
    );
    expect(fields).toHaveLength(events.length);
    const renamed = log.map((event) =>
      event.type === "worker.spawned" ? { ...event, name: "new name" } : event,
    );
    for (const sent of [encodeEntries(renamed), encodeFields(renamed)])
      expect(sent).toMatchObject(events.map(() => ({ workerName: "new name" })));
  },
);
