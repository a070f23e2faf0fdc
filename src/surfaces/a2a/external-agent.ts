import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import type { BudgetCaps } from "../../domain/budget.ts";
import { isTerminalState, type Task } from "../../wire/a2a/task.ts";
import { createTask } from "../../wire/a2a/task-snapshot.ts";
import { requireRight } from "../../http/access/caller.ts";
import { digestValue } from "../../platform/digest.ts";
import type { Sessions } from "../../session/sessions.ts";
import { formatValue } from "../../text/format-value.ts";
import { A2aError, createParamsError } from "../../wire/a2a/a2a-error.ts";
import { createMessageNote } from "../../wire/a2a/message-note.ts";
import type { A2aOptions } from "./a2a-context.ts";
import { followTask } from "./follow-task.ts";
import type { CallContext } from "./call-context.ts";
import { toRefusal } from "./refusals.ts";
import { foldTask, type StoredTask } from "./stored-task.ts";

/** The methods of a bridge which other agents pay for their work. */
export interface ExternalAgent {
  /** Describes the work and its limits, without running or storing anything. */
  plan(params: JsonValue, context: CallContext): Promise<JsonObject>;
  /** Runs an approved plan once per key, and returns the result for review. */
  dispatch(params: JsonValue, context: CallContext): Promise<JsonObject>;
}

export function createExternalAgent(options: A2aOptions): ExternalAgent {
  return {
    async plan(params, { caller }) {
      requireRight(caller, "prompt", "Planning work");
      return { ...createCheckpoint(readWork(params), caller.id, chooseAgent(options)) };
    },
    async dispatch(params, context) {
      const { caller } = context;
      requireRight(caller, "prompt", "Dispatching work");
      const work = readWork(params);
      const agent = chooseAgent(options);
      const checkpoint = createCheckpoint(work, caller.id, agent);
      if (readCheckpointId(params) !== checkpoint.checkpoint_id)
        throw createParamsError(
          "The checkpoint is not the plan of this task, budget and key. Fix: plan again",
        );
      const stored = await startWork(options, { work, context, agent });
      const fold = await waitForEnd(options, stored, context);
      return encodeResult(options.sessions, stored, { task: createTask(fold), checkpoint });
    },
  };
}

/** A task with its limits, as both methods receive it. */
interface Work {
  readonly task: string;
  readonly key: string;
  readonly caps: BudgetCaps;
  readonly scope: JsonValue;
  readonly context: JsonValue;
}

const MAX_TASK_LENGTH = 100_000;
const MAX_KEY_LENGTH = 200;

function readWork(params: JsonValue): Work {
  const fields: JsonObject = isObject(params) ? params : {};
  const {
    task,
    idempotency_key: key,
    budget,
    expected_scope: scope = null,
    context = null,
  } = fields;
  if (typeof task !== "string" || task.trim() === "" || task.length > MAX_TASK_LENGTH)
    throw createParamsError(
      `task is ${formatValue(task)}: expected 1 to ${MAX_TASK_LENGTH} characters`,
    );
  if (typeof key !== "string" || key === "" || key.length > MAX_KEY_LENGTH)
    throw createParamsError(
      `idempotency_key is ${formatValue(key)}: expected 1 to ${MAX_KEY_LENGTH} characters`,
    );
  return { task, key, caps: readCaps(budget), scope, context };
}

function readCaps(budget: JsonValue | undefined): BudgetCaps {
  const fields: JsonObject = isObject(budget) ? budget : {};
  const caps = Object.fromEntries(
    CAP_UNITS.flatMap(([name, unit]) => {
      const cap = fields[name];
      return typeof cap === "number" && Number.isFinite(cap) && cap > 0 ? [[unit, cap]] : [];
    }),
  );
  if (Object.keys(caps).length > 0) return caps;
  const names = CAP_UNITS.map(([name]) => name).join(", ");
  throw createParamsError(`budget has no positive cap: expected one of ${names}`);
}

const CAP_UNITS = [
  ["max_usd", "usd"],
  ["max_tokens", "tokens"],
  ["max_seconds", "seconds"],
  ["max_tool_calls", "toolCalls"],
] as const;

function chooseAgent({ sessions }: A2aOptions): string {
  return sessions.agents[0] ?? "";
}

interface PlannedWork {
  readonly checkpoint_id: string;
  readonly plan: string;
  readonly expected_scope: JsonValue;
  readonly evidence_refs: readonly JsonValue[];
  readonly metadata: JsonObject;
}

/** The checkpoint follows from the work alone, so a dispatch is checked against its plan without a stored plan. */
function createCheckpoint(work: Work, principal: string, agent: string): PlannedWork {
  const { task, key, caps, scope, context } = work;
  const limits = Object.entries(caps).map(([unit, cap]) => `${cap} ${unit}`);
  return {
    checkpoint_id: `ckpt_${digestValue([principal, agent, task, key, caps, scope, context]).slice(-32)}`,
    plan: `The agent "${agent}" works on the task in a new session, with at most ${limits.join(" and ")}. Tools that need an approval wait for people of this bridge.`,
    expected_scope: scope,
    evidence_refs: [],
    metadata: { agent },
  };
}

function readCheckpointId(params: JsonValue): JsonValue | undefined {
  const checkpoint = isObject(params) ? params["checkpoint"] : undefined;
  if (isObject(checkpoint) && checkpoint["approved"] === true) return checkpoint["checkpoint_id"];
  throw createParamsError("checkpoint.approved is not true: only approved plans are dispatched");
}

interface WorkContext {
  readonly work: Work;
  readonly context: CallContext;
  readonly agent: string;
}

/** Opens the session of the work, or finds the session of an earlier request with this key. */
async function startWork(
  { sessions }: A2aOptions,
  { work: { task, key, caps, context: details }, context: { caller }, agent }: WorkContext,
): Promise<StoredTask> {
  const sessionId = `ses_${digestValue(["external", caller.id, key]).slice(-32)}`;
  const text = details === null ? task : `${task}\n\nContext: ${JSON.stringify(details)}`;
  const prompt = {
    type: "prompt",
    content: [{ type: "text", text }],
    note: createMessageNote(key),
    options: { approvalMs: APPROVAL_MS },
  } as const;
  const opened = await sessions.openWithPrompt(
    { sessionId, principal: caller, agent, budget: caps, title: task.slice(0, 80) },
    { sender: { principal: caller, commandId: `external/${key}` }, createPrompt: () => prompt },
  );
  const { reply } = opened;
  if (reply?.status === "refused") throw toRefusal(reply.failure);
  const record = await sessions.find(sessionId);
  if (record === undefined || reply?.seq === undefined)
    throw new A2aError("INTERNAL_ERROR", "The session was deleted after it accepted the work");
  return { record, position: { sessionId, seq: reply.seq } };
}

/** The wait for people, such as for more budget, in milliseconds. The caller keeps a connection open meanwhile. */
const APPROVAL_MS = 60_000;

async function waitForEnd(options: A2aOptions, stored: StoredTask, { signal }: CallContext) {
  const { sessions } = options;
  for await (const _ of followTask(sessions, stored, { after: undefined, signal })) continue;
  const fold = await foldTask(sessions, stored);
  if (isTerminalState(fold.status.state)) return fold;
  throw new A2aError(
    "UNAVAILABLE",
    "The work continues. Fix: dispatch again with the same key to get its result",
  );
}

interface FinishedWork {
  readonly task: Task;
  readonly checkpoint: PlannedWork;
}

/** Encodes the result with the amounts metered on the log of the session. */
async function encodeResult(
  sessions: Sessions,
  { record: { sessionId } }: StoredTask,
  { task, checkpoint }: FinishedWork,
): Promise<JsonObject> {
  const usage = await sessions.readUsage(sessionId);
  const used = usage.find(({ name }) => name.startsWith("session"))?.used;
  const { state, reason = null } = task.status;
  const isOverBudget = reason?.startsWith("budget_") === true;
  const status = isOverBudget ? "budget_exceeded" : state === "completed" ? "completed" : "failed";
  const { artifacts = [] } = task;
  const texts = artifacts.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
  );
  return {
    status,
    handoff: { summary: texts.join("\n\n"), task_id: task.taskId, state, reason },
    artifacts: artifacts.map(({ artifactId, name, parts }) => ({
      artifactId,
      name,
      // The parts consist of JSON values.
      parts: JSON.parse(JSON.stringify(parts)) as JsonValue,
    })),
    receipts: [
      { task_id: task.taskId, sequence: task.sequence, checkpoint_id: checkpoint.checkpoint_id },
    ],
    ...(used !== undefined && {
      budget_used: {
        usd: used.usd,
        tokens: used.tokens,
        seconds: used.seconds,
        tool_calls: used.toolCalls,
      },
    }),
  };
}
