import { digestText } from "../../platform/digest.ts";
import { requireRight, type Caller } from "../../http/access/caller.ts";
import { A2aError } from "../../wire/a2a/a2a-error.ts";
import type { ListRequest, SendRequest, TaskRequest } from "../../wire/a2a/read-request.ts";
import { formatTaskId } from "../../wire/a2a/task-id.ts";
import { createTask } from "../../wire/a2a/task-snapshot.ts";
import type { TaskFold } from "../../wire/a2a/task-state.ts";
import { isTerminalState, type PlacedUpdate, type Task } from "../../wire/a2a/task.ts";
import type { A2aOptions } from "./a2a-context.ts";
import type { CallContext } from "./call-context.ts";
import { requirePush } from "./push/push-operations.ts";
import { followTask } from "./follow-task.ts";
import { listTasks, type TaskPage } from "./list-tasks.ts";
import { toRefusal } from "./refusals.ts";
import { sendMessage } from "./send-message.ts";
import { findTask, foldTask, readTask, type StoredTask } from "./stored-task.ts";

type Updates = AsyncIterable<readonly PlacedUpdate[]>;

/** The operations of A2A. Each binding and version translates its requests into these. */
export interface Operations {
  send(request: SendRequest, context: CallContext): Promise<Task>;
  stream(request: SendRequest, context: CallContext): Promise<Updates>;
  get(request: TaskRequest, context: CallContext): Promise<Task>;
  list(request: ListRequest, context: CallContext): Promise<TaskPage>;
  cancel(request: TaskRequest, context: CallContext): Promise<Task>;
  subscribe(request: TaskRequest, context: CallContext): Promise<Updates>;
}

export function createOperations(options: A2aOptions): Operations {
  const { sessions } = options;
  const deliver = (request: SendRequest, context: CallContext) =>
    deliverMessage(options, request, context);
  return {
    async send(request, context) {
      const stored = await deliver(request, context);
      const task = request.isImmediate
        ? await readTask(sessions, stored)
        : await waitForRest(options, stored, context);
      return trimHistory(task, request.historyLength);
    },
    async stream(request, context) {
      const isContinued = request.message.taskId !== undefined;
      const stored = await deliver(request, context);
      // The stream of a new task begins with its prompt; of a continued task, with the state after the message. A cursor
      // of another stream is ignored: only a repeated message has one.
      const after = stored.isRepeated === true ? context.lastSequence : undefined;
      const { signal } = context;
      return followTask(sessions, stored, {
        after: after ?? (isContinued ? undefined : 0),
        signal,
      });
    },
    async get({ taskId, historyLength }, { caller }) {
      const stored = await findTask(sessions, taskId, caller);
      return trimHistory(await readTask(sessions, stored), historyLength);
    },
    async list(request, context) {
      const page = await listTasks(sessions, request, context);
      const { includesArtifacts, historyLength } = request;
      const tasks = page.tasks.map((task) => {
        const trimmed = trimHistory(task, historyLength);
        const { artifacts: _, ...rest } = trimmed;
        return includesArtifacts ? trimmed : rest;
      });
      return { ...page, tasks };
    },
    async cancel({ taskId }, context) {
      requireRight(context.caller, "prompt", "Cancelling a task");
      const stored = await findTask(sessions, taskId, context.caller);
      const fold = await foldTask(sessions, stored);
      if (isTerminalState(fold.status.state)) throw createNotCancelableError(fold);
      await cancelTask(options, stored, { fold, caller: context.caller });
      return waitForRest(options, stored, { ...context, ignoresRequests: true });
    },
    async subscribe({ taskId }, { caller, signal, lastSequence: after }) {
      const stored = await findTask(sessions, taskId, caller);
      const { status } = await foldTask(sessions, stored);
      if (after !== undefined && after > stored.record.seq) throw createAheadError(after);
      // With a cursor, the reader gets the rest of an ended task.
      if (after === undefined && isTerminalState(status.state))
        throw createEndedError(status.state);
      return followTask(sessions, stored, { after, signal });
    },
  };
}

/** Delivers a message, and creates the push notification config that was sent with the message. */
async function deliverMessage(
  options: A2aOptions,
  { message, agent, push: config }: SendRequest,
  { caller, version }: CallContext,
): Promise<StoredTask> {
  // A message to a task may be a decision, which needs another right.
  if (message.taskId === undefined) requireRight(caller, "prompt", "Sending a message");
  if (config === undefined) return sendMessage(options, message, { caller, agent });
  const push = requirePush(options.push);
  await push.check(config, caller);
  const task = await sendMessage(options, message, { caller, agent });
  // A message that is sent again has the same config.
  const id = config.id ?? `push-${digestText(message.messageId).slice(0, 24)}`;
  const taskId = formatTaskId(task.position);
  const isFromStart = message.taskId === undefined;
  await push.create({ task, taskId, config: { ...config, id }, version, isFromStart }, caller);
  return task;
}

interface WaitContext extends CallContext {
  /** Waits for the end of the task also while the task needs input. Default: false. */
  readonly ignoresRequests?: boolean;
}

/** Waits until the task ends or needs input. A caller that disconnects does not stop the task. */
async function waitForRest(
  { sessions }: A2aOptions,
  stored: StoredTask,
  { signal, ignoresRequests = false }: WaitContext,
): Promise<Task> {
  for await (const updates of followTask(sessions, stored, { after: undefined, signal })) {
    const isAtRest = updates.some(({ update }) => {
      const status = update.type === "task" ? update.task.status : undefined;
      const { state } = update.type === "status" ? update.status : (status ?? { state: "working" });
      return isTerminalState(state) || (state === "input-required" && !ignoresRequests);
    });
    if (isAtRest) break;
  }
  return readTask(sessions, stored);
}

interface CancelContext {
  readonly fold: TaskFold;
  readonly caller: Caller;
}

/** Withdraws a queued prompt, or cancels the turn of the task. Never cancels the turn of another task. */
async function cancelTask(
  { sessions }: A2aOptions,
  stored: StoredTask,
  { fold: before, caller }: CancelContext,
): Promise<void> {
  const { sessionId } = stored.record;
  const from = { principal: caller };
  let fold = before;
  if (fold.turnId === null && fold.promptId !== null) {
    const command = { type: "withdraw-prompt", promptId: fold.promptId } as const;
    const reply = await sessions.command(sessionId, command, from);
    if (reply.status === "accepted") return;
    // The prompt has started since, and may have ended.
    fold = await foldTask(sessions, await findTask(sessions, formatTaskId(fold.position), caller));
  }
  const { turnId, status } = fold;
  if (turnId === null || isTerminalState(status.state)) throw createNotCancelableError(fold);
  const reply = await sessions.command(sessionId, { type: "cancel", turnId }, from);
  if (reply.status === "accepted") return;
  if (reply.failure.code === "access_denied") throw toRefusal(reply.failure);
  throw new A2aError("TASK_NOT_CANCELABLE", reply.failure.message);
}

/** Keeps the newest messages. */
function trimHistory(task: Task, length: number | undefined): Task {
  if (length === undefined) return task;
  const { history = [], ...rest } = task;
  return length === 0 ? rest : { ...rest, history: history.slice(-length) };
}

function createNotCancelableError(fold: TaskFold): A2aError {
  const { taskId, status } = createTask(fold);
  return new A2aError("TASK_NOT_CANCELABLE", `The task ${taskId} has ended (${status.state})`);
}

function createAheadError(sequence: number): A2aError {
  const message = `Last-Event-ID is ${sequence}, which is after the last event of the context`;
  return new A2aError("INVALID_PARAMS", message);
}

function createEndedError(state: string): A2aError {
  const hint = "Fix: get the task, or send Last-Event-ID to read the rest of its stream";
  return new A2aError("UNSUPPORTED_OPERATION", `The task has ended (${state}). ${hint}`);
}
