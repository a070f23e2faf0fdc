import { findOwnedSession, type SessionRecord } from "../log/owned-session.ts";
import { readEnvelopes } from "../log/read-log.ts";
import { isObject, parseJson } from "../../data/json.ts";
import { canUseSession, type Caller } from "../../http/access/caller.ts";
import type { Sessions } from "../../session/sessions.ts";
import { createParamsError } from "../../wire/a2a/a2a-error.ts";
import type { ListRequest } from "../../wire/a2a/read-request.ts";
import { createTaskEncoder } from "../../wire/a2a/task-encoder.ts";
import { createTask } from "../../wire/a2a/task-snapshot.ts";
import type { CallContext } from "./operations.ts";
import type { TaskFold } from "../../wire/a2a/task-state.ts";
import type { Task } from "../../wire/a2a/task.ts";

export interface TaskPage {
  readonly tasks: readonly Task[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  /** Tasks of this page and the pages before. */
  readonly count: number;
}

/** Where the next page starts: a page of the session list, and the last task sent of its first session. */
interface PageStart {
  readonly page?: string;
  /** Tasks at this position or later were sent. Absent: none was. */
  readonly before?: number;
  readonly count: number;
}

/** Lists tasks of the caller: the context with the newest event first, and in each context the newest task first. */
export async function listTasks(
  sessions: Sessions,
  request: ListRequest,
  { caller, signal }: Pick<CallContext, "caller" | "signal">,
): Promise<TaskPage> {
  const { contextId, pageSize } = request;
  const tasks: Task[] = [];
  let start = readPageToken(request.pageToken);
  for (let contexts = 0; ; contexts += 1) {
    signal.throwIfAborted();
    // A filter which matches few tasks would read all logs of the caller.
    if (contexts === MAX_CONTEXTS)
      return { tasks, nextPageToken: formatPageToken(start), count: start.count };
    const { page } = start;
    const [record, nextPage] = await findContext(sessions, { contextId, page, caller });
    const { before = Infinity } = start;
    const all = record === undefined ? [] : await readTasks(sessions, record);
    const fitting = all.filter(({ fold, seq }) => seq < before && isRequested(fold, request));
    const taken = fitting.slice(0, pageSize - tasks.length);
    tasks.push(...taken.map(({ fold }) => createTask(fold)));
    const count = start.count + taken.length;
    const lastSeq = taken.at(-1)?.seq;
    if (taken.length < fitting.length) {
      // `page` is the token of this session, so the next page reads the session again.
      const next = { ...start, before: lastSeq ?? before, count };
      return { tasks, nextPageToken: formatPageToken(next), count };
    }
    if (nextPage === undefined) return { tasks, nextPageToken: "", count };
    start = { page: nextPage, count };
    if (tasks.length === pageSize) return { tasks, nextPageToken: formatPageToken(start), count };
  }
}

/** Contexts read for one page. A page may then have fewer tasks than requested, and a next page. */
const MAX_CONTEXTS = 200;

interface ContextQuery {
  readonly contextId: string | undefined;
  readonly page: string | undefined;
  readonly caller: Caller;
}

async function findContext(
  sessions: Sessions,
  { contextId, page, caller }: ContextQuery,
): Promise<readonly [record: SessionRecord | undefined, nextPage: string | undefined]> {
  if (contextId !== undefined)
    return [await findOwnedSession(sessions, contextId, caller), undefined];
  const query = { limit: 1, principal: caller.id, ...(page !== undefined && { page }) };
  const { sessions: records, nextPage } = await sessions.list(query);
  const [record] = records;
  const isUsable = record !== undefined && canUseSession(caller, record);
  return [isUsable ? record : undefined, nextPage];
}

interface FoldedTask {
  readonly seq: number;
  readonly fold: TaskFold;
}

/** Reads the log of a session once and folds all its tasks. Newest first. */
async function readTasks(
  sessions: Sessions,
  record: SessionRecord,
): Promise<readonly FoldedTask[]> {
  const { hiddenPromptIds } = await sessions.status(record.sessionId);
  const tasks: FoldedTask[] = [];
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
  return tasks.toReversed();
}

function isRequested({ status }: TaskFold, { state, since = 0 }: ListRequest): boolean {
  return (state === undefined || status.state === state) && status.at >= since;
}

function formatPageToken(start: PageStart): string {
  return Buffer.from(JSON.stringify(start)).toString("base64url");
}

function readPageToken(token: string | undefined): PageStart {
  if (token === undefined) return { count: 0 };
  const parsed = parseJson(Buffer.from(token, "base64url").toString());
  const { page, before, count } = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  if (!Number.isSafeInteger(count))
    throw createParamsError("pageToken is not valid: expected the nextPageToken of a response");
  return {
    count: Number(count),
    ...(typeof page === "string" && { page }),
    ...(typeof before === "number" && { before }),
  };
}
