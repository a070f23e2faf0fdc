import { findOwnedSession, type SessionRecord } from "../log/owned-session.ts";
import { readEnvelopes } from "../log/read-log.ts";
import { parseJson } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { canUseSession, type Caller } from "../../http/access/caller.ts";
import type { Sessions } from "../../session/sessions.ts";
import { createParamsError } from "../../wire/a2a/a2a-error.ts";
import type { ListRequest } from "../../wire/a2a/read-request.ts";
import { createTaskEncoder } from "../../wire/a2a/task-encoder.ts";
import { createTask } from "../../wire/a2a/task-snapshot.ts";
import type { CallContext } from "./call-context.ts";
import type { TaskFold } from "../../wire/a2a/task-state.ts";
import type { Task } from "../../wire/a2a/task.ts";

export interface TaskPage {
  readonly tasks: readonly Task[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  /** Tasks of this page and the pages before. */
  readonly count: number;
}

/** The place of a task in the list. */
interface Place {
  /** The time of the status, in milliseconds since 1970. */
  readonly at: number;
  readonly sessionId: string;
  readonly seq: number;
}

/** Where the next page starts. */
interface PageStart {
  /** The last task of the previous page. Absent: the first page. */
  readonly last?: Place;
  /** Tasks of the previous pages. */
  readonly count: number;
}

/** Lists tasks of the caller, the task with the newest status first. */
export async function listTasks(
  sessions: Sessions,
  request: ListRequest,
  { caller, signal }: Pick<CallContext, "caller" | "signal">,
): Promise<TaskPage> {
  const start = readPageToken(request.pageToken);
  const taken: FoldedTask[] = [];
  let waiting: FoldedTask[] = [];
  const takeUntil = (time: number): void => {
    while (waiting[0] !== undefined && waiting[0].at > time && taken.length <= request.pageSize)
      taken.push(...waiting.splice(0, 1));
  };
  for await (const record of listContexts(sessions, request, caller)) {
    signal.throwIfAborted();
    // Later contexts have only older events, so no task with a newer status.
    takeUntil(record.updatedAt);
    if (taken.length > request.pageSize || record.updatedAt < (request.since ?? 0)) break;
    if (start.last !== undefined && record.createdAt > start.last.at) continue;
    const tasks = await readTasks(sessions, record);
    const fitting = tasks.filter((task) => isRequested(task, request) && follows(task, start.last));
    waiting = [...waiting, ...fitting].sort(comparePlaces).slice(0, request.pageSize + 1);
  }
  takeUntil(-Infinity);
  return createPage(start, taken, request.pageSize);
}

/** `taken` has an extra task if another page follows. */
function createPage(start: PageStart, taken: readonly FoldedTask[], pageSize: number): TaskPage {
  const page = taken.slice(0, pageSize);
  const count = start.count + page.length;
  const last = taken.length > pageSize ? page.at(-1) : undefined;
  return {
    tasks: page.map(({ fold }) => createTask(fold)),
    nextPageToken: last === undefined ? "" : formatPageToken(last, count),
    count,
  };
}

/** Newest status first. Equal times are ordered by session and position, so a page can start between two tasks. */
function comparePlaces(first: Place, second: Place): number {
  if (first.at !== second.at) return second.at - first.at;
  if (first.sessionId !== second.sessionId) return first.sessionId < second.sessionId ? -1 : 1;
  return second.seq - first.seq;
}

function follows(task: Place, last: Place | undefined): boolean {
  return last === undefined || comparePlaces(last, task) < 0;
}

/** Contexts read from the store at once. */
const CONTEXTS_PER_READ = 20;

/** Yields the requested contexts of the caller, the context with the newest event first. */
async function* listContexts(
  sessions: Sessions,
  { contextId }: ListRequest,
  caller: Caller,
): AsyncGenerator<SessionRecord> {
  if (contextId !== undefined) {
    const record = await findOwnedSession(sessions, contextId, caller);
    if (record !== undefined) yield record;
    return;
  }
  let page: string | undefined;
  do {
    const query = { limit: CONTEXTS_PER_READ, principal: caller.id, ...omitUndefined({ page }) };
    const { sessions: records, nextPage } = await sessions.list(query);
    for (const record of records) if (canUseSession(caller, record)) yield record;
    page = nextPage;
  } while (page !== undefined);
}

interface FoldedTask extends Place {
  readonly fold: TaskFold;
}

/** Reads the log of a session once and folds all its tasks. */
async function readTasks(
  sessions: Sessions,
  record: SessionRecord,
): Promise<readonly FoldedTask[]> {
  const { hiddenPromptIds } = await sessions.status(record.sessionId);
  const tasks: Pick<FoldedTask, "seq" | "fold">[] = [];
  let open: { readonly encoder: ReturnType<typeof createTaskEncoder>; readonly fold: TaskFold }[] =
    [];
  for await (const envelope of readEnvelopes(record, 1, sessions)) {
    const { event, seq, sessionId } = envelope;
    if (event.type === "prompt.accepted" && !hiddenPromptIds.includes(event.promptId)) {
      const encoder = createTaskEncoder({ sessionId, seq }, record.lineage);
      const fold = encoder.initial();
      open.push({ encoder, fold });
      tasks.push({ seq, fold });
    }
    for (const { encoder, fold } of open) encoder.step(fold, envelope, () => {});
    if (event.type === "turn.finished" || event.type === "prompt.withdrawn")
      open = open.filter(({ encoder, fold }) => encoder.isOver?.(fold) !== true);
  }
  const { sessionId } = record;
  return tasks.map(({ seq, fold }) => ({ at: fold.status.at, sessionId, seq, fold }));
}

function isRequested({ at, fold }: FoldedTask, { state, since = 0 }: ListRequest): boolean {
  return (state === undefined || fold.status.state === state) && at >= since;
}

function formatPageToken({ at, sessionId, seq }: Place, count: number): string {
  return Buffer.from(JSON.stringify([at, sessionId, seq, count])).toString("base64url");
}

function readPageToken(token: string | undefined): PageStart {
  if (token === undefined) return { count: 0 };
  const parsed = parseJson(Buffer.from(token, "base64url").toString());
  const [at, sessionId, seq, count]: readonly unknown[] =
    parsed.ok && Array.isArray(parsed.value) ? parsed.value : [];
  if (isNumber(at) && typeof sessionId === "string" && isNumber(seq) && isNumber(count))
    return { last: { at, sessionId, seq }, count };
  throw createParamsError("pageToken is not valid: expected the nextPageToken of a response");
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
