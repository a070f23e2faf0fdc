import type { Client, WorkerRow } from "../../../host/index.ts";
import { toSingleLine } from "../../../inspect/trace-style.ts";
import type { ChatView } from "../chat-view.ts";
import type { ChatSession } from "../session.ts";
import { describeWorker, findWorker, findWorkerBefore, type KnownWorkers } from "./find-worker.ts";
import { findParentWorker, formatWorkerTree } from "./worker-tree.ts";

export interface WorkerCommand {
  readonly name: "workers" | "delegate" | "trigger" | "close";
  readonly argument: string;
}

interface CommandContext {
  readonly client: Client;
  readonly session: ChatSession;
  readonly view: ChatView;
}

/** Performs the commands of a chat about the workers of its session. */
export interface WorkerCommands {
  perform(command: WorkerCommand, context: CommandContext): Promise<void>;
}

export function createWorkerCommands(): WorkerCommands {
  /** Undefined until the person has seen the list: then the positions are those of the open workers. */
  let listed: readonly WorkerRow[] | undefined;

  async function readKnownWorkers({ client, session }: CommandContext): Promise<KnownWorkers> {
    const open = await client.workers(session.sessionId);
    return { open, listed: listed ?? open };
  }

  async function list({ client, session, view }: CommandContext, id: string): Promise<void> {
    const { style, width, reply } = view;
    const query = { sessionId: session.sessionId, id };
    const { rows, workers } = await formatWorkerTree(client, query, { style, width });
    if (id === "") listed = workers;
    reply(rows);
  }

  return {
    async perform({ name, argument }, context) {
      if (name === "workers") return list(context, argument);
      const { session, view } = context;
      if (session.role === "observer") return view.reply(OBSERVER_WORKER_NOTE, view.style.warn);
      if (name === "delegate") return delegate(context, argument);
      const known = await readKnownWorkers(context);
      return name === "trigger"
        ? trigger(context, argument, known)
        : close(context, argument, known);
    },
  };
}

async function delegate({ client, session, view }: CommandContext, task: string): Promise<void> {
  const { workerId, status } = await client.delegate(session.sessionId, task);
  view.reply(`Started ${toSingleLine(workerId)}: ${toSingleLine(status)}`);
}

async function trigger(
  { client, session, view }: CommandContext,
  argument: string,
  known: KnownWorkers,
): Promise<void> {
  const named = findWorkerBefore(argument, known);
  if (named === undefined) return view.reply(TRIGGER_USAGE, view.style.warn);
  if ("problem" in named) {
    const [id = ""] = argument.split(/\s/, 1);
    return explainProblem({ client, session, view }, id, named.problem);
  }
  const { worker, text } = named;
  const { status } = await client.triggerWorker(session.sessionId, worker.workerId, text);
  view.reply(`Triggered ${describeWorker(worker)}: ${toSingleLine(status)}`);
}

async function close(
  { client, session, view }: CommandContext,
  name: string,
  known: KnownWorkers,
): Promise<void> {
  const named = findWorker(name, known);
  if ("problem" in named) return explainProblem({ client, session, view }, name, named.problem);
  await client.closeWorker(session.sessionId, named.worker.workerId);
  view.reply(`Closed ${describeWorker(named.worker)}`);
}

/** `/workers` also lists workers of workers, which belong to another session. */
async function explainProblem(
  { client, session, view }: CommandContext,
  id: string,
  problem: string,
): Promise<void> {
  const parent = await findParentWorker(client, { sessionId: session.sessionId, id });
  if (parent === undefined) return view.reply(problem, view.style.warn);
  const fix = `Fix: spanline chat --session ${toSingleLine(parent.sessionId)}`;
  view.reply(`This worker belongs to ${describeWorker(parent)}. ${fix}`, view.style.warn);
}

const TRIGGER_USAGE = "/trigger needs a worker and a text: /trigger WORKER TEXT";
const OBSERVER_WORKER_NOTE =
  "You are watching. /takeover takes control; then you can start, trigger and close workers.";
