import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import type { HarnPlan } from "../../../src/domain/outputs/harn-plan.ts";
import { BIDI, HOSTILE, HOSTILE_MARKUP, HUGE_LINE } from "./hostile-session.ts";

/** A turn with hostile text in plans, progress, log entries, workers, file changes and a compaction. */
export function createHostileOutputs(): readonly SessionEvent[] {
  return [
    { type: "prompt.accepted", promptId: "prompt_1", content: [{ type: "text", text: "Start" }] },
    { type: "turn.started", turnId: "turn_1", promptId: "prompt_1" },
    {
      type: "plan.updated",
      entries: [{ content: HOSTILE, priority: "high", status: "pending" }],
      plan: HOSTILE_PLAN,
    },
    { type: "log.reported", level: "error", message: HOSTILE, fields: { [HOSTILE_MARKUP]: BIDI } },
    {
      type: "progress.reported",
      message: HOSTILE,
      phase: HOSTILE_MARKUP,
      progress: 1,
      total: 3,
      data: { [HOSTILE_MARKUP]: BIDI },
    },
    ...createHostileWorker(),
    {
      type: "watch.added",
      subscriptionId: HOSTILE_MARKUP,
      owner: { kind: "agent" },
      paths: [HOSTILE_MARKUP, BIDI],
      globs: [HOSTILE_MARKUP],
      expiresAt: 1,
    },
    {
      type: "files.changed",
      subscriptionId: HOSTILE_MARKUP,
      entries: [
        {
          kind: "modify",
          paths: [HOSTILE_MARKUP],
          relativePaths: [HOSTILE_MARKUP, BIDI, HUGE_LINE],
          rawKind: HOSTILE_MARKUP,
          error: null,
        },
        { kind: "error", paths: [], relativePaths: [], rawKind: "", error: HOSTILE },
      ],
    },
    createHostileCompaction(),
    {
      type: "turn.finished",
      turnId: "turn_1",
      outcome: "completed",
      reason: null,
      usage: null,
      steps: 1,
    },
  ];
}

const HOSTILE_PLAN: HarnPlan = {
  _type: "plan_artifact",
  schema_version: "harn.plan.v1",
  id: HOSTILE_MARKUP,
  tool: HOSTILE_MARKUP,
  title: HOSTILE_MARKUP,
  summary: HOSTILE,
  steps: [{ id: "1", content: HOSTILE, status: "pending", priority: "high" }],
  assumptions: [HOSTILE],
  open_questions: [BIDI, HUGE_LINE],
  verification_commands: [HOSTILE_MARKUP],
  approval: { state: "requested", reason: HOSTILE_MARKUP },
};

/** Two workers: the first with a result, the second with a failure. */
function createHostileWorker(): readonly SessionEvent[] {
  const usage = { tokens: 1, seconds: 1, toolCalls: 1, invocations: 1, usd: 0 };
  const spawned = {
    type: "worker.spawned",
    sessionId: "ses_worker",
    agent: HOSTILE_MARKUP,
    name: HOSTILE_MARKUP,
    task: HOSTILE,
    mode: HOSTILE_MARKUP,
    isBackground: true,
    isRetriggerable: true,
    cycle: 1,
    prompt: HOSTILE,
  } as const;
  return [
    { ...spawned, workerId: "worker_1" },
    {
      type: "worker.waiting_for_input",
      workerId: "worker_1",
      result: { text: HOSTILE, usage },
    },
    { ...spawned, workerId: "worker_2", name: `${BIDI}"><script>` },
    {
      type: "worker.failed",
      workerId: "worker_2",
      failure: { code: "agent_failed", message: HOSTILE, details: {} },
      usage,
    },
  ];
}

function createHostileCompaction(): SessionEvent {
  return {
    type: "transcript.compacted",
    compactionId: HOSTILE_MARKUP,
    usage: null,
    receipt: {
      receiptId: HOSTILE_MARKUP,
      schemaVersion: 1,
      mode: "manual",
      reason: "command",
      strategy: "hybrid",
      requestedStrategy: "truncate",
      engineStrategy: "llm",
      policy: {
        strategy: "hybrid",
        thresholdTokens: 1,
        thresholdSource: "agent",
        keepLast: 1,
        hardLimitTokens: null,
        instructions: HOSTILE,
        instructionSource: "command",
      },
      keptHead: 0,
      archivedMessages: 1,
      truncatedMessages: 1,
      keptTail: 0,
      before: { source: "estimate", tokens: 1 },
      after: { source: "not_measured", tokens: null },
      replacement: `${HOSTILE}\n${HUGE_LINE}`,
      recap: HOSTILE,
      snapshotAssetId: `"><script>${BIDI}`,
    },
  };
}
