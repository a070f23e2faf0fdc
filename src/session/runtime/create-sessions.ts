import { waitWithTimeout } from "../../async/pause.ts";
import {
  hasNoClientTools,
  type SetClientToolsReply,
  type ClientTools,
} from "../../domain/client-tools.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import type { Clock } from "../../platform/clock.ts";
import { randomSeed } from "../../platform/random.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { findRole } from "../clients/clients-state.ts";
import { isTerminalStatus } from "../../domain/workers/worker.ts";
import { refuse } from "../refuse-command.ts";
import type { ClientSender, Sender, Sessions } from "../sessions.ts";
import { listToolRules } from "../tools/list-tool-rules.ts";
import type { Agent } from "./agent/agent.ts";
import { sendCommand, type CommandContext } from "./send-command.ts";
import type { Driver } from "./driver.ts";
import { createSessionDrivers } from "./session-drivers.ts";
import { deleteTree } from "./delete-tree.ts";
import type { ChildSessions, SessionTotals } from "./effects/child-sessions.ts";
import { linkWorkerAgents } from "./agent/link-worker-agents.ts";
import { readUsage } from "./read-usage.ts";
import {
  createSessionOpening,
  findAgent,
  readAgentSpec,
  resolveExtraFolders,
  type WithDriver,
} from "./session-opening.ts";
import { createSessionReaders } from "./session-readers.ts";
import { setSessionMode } from "./set-session-mode.ts";
import { readSessionStatus } from "./session-status.ts";
import type { SessionsOptions } from "./sessions-options.ts";
import type { ModelMessage } from "../../domain/model/model-request.ts";
import type { BlobStore } from "../../store/blob-store.ts";
import type { LogStore } from "../../store/log-store.ts";
import { evolveConversation, initialConversation } from "./history/conversation.ts";
import { loadMessageImages } from "./history/load-images.ts";

export interface RunningSessions extends Sessions {
  /** Resumes sessions interrupted in another process: unfinished turns, and deadlines in the past. */
  resumeInterrupted(): Promise<void>;
  close(): Promise<void>;
}

/** Creates the sessions of this process. Each session has a driver while it is in use. */
export function createSessions(options: SessionsOptions): RunningSessions {
  const { store, clock, seed = randomSeed } = options;
  const acceptsClientTools = options.openClientTools !== undefined;
  const requests = createRequestGate();
  const { run } = requests;
  const agents = linkWorkerAgents(options.agents);
  // The effects of a session use the sessions of its workers, also while the process closes.
  const children: ChildSessions = {
    openWithPrompt: (request, first) => openWithPrompt(request, first),
    command: (sessionId, command, from) => sendTo(sessionId, command, from),
    find: (sessionId) => store.findSession(sessionId),
    subscribe: (sessionId, cursor, signal) => store.subscribe(sessionId, cursor, signal),
    readTotals: (sessionId) => withDriver(sessionId, readTotals),
  };
  const isClosed = (): boolean => requests.isClosed;
  const drivers = createSessionDrivers({ ...options, agents }, { isClosed, children });
  const { withDriver } = drivers;
  const sendTo: Sessions["command"] = (sessionId, command, from) =>
    withDriver(sessionId, (driver) =>
      runCommand(command, from, { sessionId, store, driver, readers, agents, sendTo, withDriver }),
    );
  const useDriver: WithDriver = (sessionId, work) => run(() => withDriver(sessionId, work));
  const readers = createSessionReaders();
  const opening = { store, clock, agents, seed, readers, ...drivers };
  const { open, openWithPrompt } = createSessionOpening(opening);
  return {
    agents: agents.map(({ spec }) => spec.name),
    open: (request) => run(() => open(request)),
    openWithPrompt: (request, first) => run(() => openWithPrompt(request, first)),
    command: (sessionId, command, from) => run(() => sendTo(sessionId, command, from)),
    setClientTools: (sessionId, equipment, sender) =>
      run(() => setClientTools(equipment, sender, { sessionId, withDriver, acceptsClientTools })),
    subscribe: (sessionId, cursor, signal) =>
      readers.trackReader(sessionId, signal, store.subscribe(sessionId, cursor, signal)),
    checkCredentials: (agent) =>
      run(async () => checkAgentCredentials(findAgent(agents, agent), clock)),
    checkLog: () =>
      run(async () => {
        const error = drivers.findWriteError();
        if (error !== undefined) throw error;
        await store.probe();
      }),
    status: (sessionId) =>
      useDriver(sessionId, ({ state }) => readSessionStatus(state, sessionId, store)),
    readUsage: (sessionId) =>
      useDriver(sessionId, ({ state }) => readUsage(state, { sessionId, store, now: clock.now() })),
    readHistory: (sessionId, through) => run(() => readSessionHistory(store, sessionId, through)),
    listToolRules: (sessionId) =>
      useDriver(sessionId, (driver) =>
        listToolRules(readAgentSpec(driver, sessionId), driver.state.mode),
      ),
    find: (sessionId) => store.findSession(sessionId),
    list: (query) => store.listSessions(query),
    readRecord: (scope, key) => store.readRecord(scope, key),
    putRecord: (scope, key, write) => run(() => store.putRecord(scope, key, write)),
    deleteRecord: (scope, key, version) => run(() => store.deleteRecord(scope, key, version)),
    listRecords: (query) => store.listRecords(query),
    watchSessions: (signal) => store.watchSessions(signal),
    async readBlob(sessionId, blobId) {
      const bytes = await store.readBlob(sessionId, blobId);
      return bytes && Buffer.from(bytes).toString("base64");
    },
    delete: (sessionId) =>
      run(() => deleteTree(sessionId, { store, removeDriver: drivers.remove, sendTo })),
    resumeInterrupted: () => run(() => drivers.resumeInterrupted()),
    async close() {
      const requestsEnded = requests.close();
      drivers.stopStarting();
      // Requests in progress are logged before their drivers close.
      await requestsEnded;
      await drivers.close();
    },
  };
}

async function readTotals(driver: Driver): Promise<SessionTotals> {
  // A subscriber receives events before the driver has folded them.
  await driver.drain();
  const { state } = driver;
  const ended = state.workers.open.filter(({ status }) => isTerminalStatus(status));
  return {
    usage: state.budgets.session,
    artifactCount: state.artifacts.count,
    endedWorkers: ended.map(({ workerId }) => workerId),
    openRequests: state.approvals.pending,
    seq: state.seq,
  };
}

/** Admits requests until the sessions close. */
interface RequestGate {
  readonly isClosed: boolean;
  /** Rejects with `aborted` after `close`. */
  readonly run: <Value>(work: () => Promise<Value>) => Promise<Value>;
  /** Admits no further requests. Resolves when the admitted requests have ended. */
  close(): Promise<void>;
}

function createRequestGate(): RequestGate {
  const pendingWork = new Set<Promise<unknown>>();
  let isClosed = false;
  return {
    get isClosed() {
      return isClosed;
    },
    run(work) {
      if (isClosed) return Promise.reject(createClosedError());
      const done = work().finally(() => pendingWork.delete(done));
      pendingWork.add(done);
      return done;
    },
    async close() {
      isClosed = true;
      await Promise.allSettled(pendingWork);
    },
  };
}

function createClosedError(): SpanlineError {
  return new SpanlineError("aborted", "The sessions are closed: no further requests are accepted");
}

interface AgentCommandContext extends CommandContext {
  readonly agents: readonly Agent[];
  readonly withDriver: WithDriver;
  /** Sends a command to any session. */
  readonly sendTo: Sessions["command"];
}

/**
 * Sends a command to its session. Folders are resolved by the session's agent first. A decision about the request of a
 * worker goes to the session of the worker, if the sender may decide requests here.
 */
async function runCommand(
  command: SessionCommand,
  sender: Sender,
  { agents, sendTo, withDriver, ...context }: AgentCommandContext,
): Promise<CommandReply> {
  if (command.type === "decide-approval") {
    const reply = await sendCommand(command, sender, context);
    const decidingSession = readDecidingSession(reply);
    if (decidingSession === undefined) return reply;
    const { principal, commandId } = sender;
    return sendTo(decidingSession, command, { principal, ...omitUndefined({ commandId }) });
  }
  if (command.type === "set-mode")
    return setSessionMode(command, sender, { ...context, sendTo, withDriver });
  if (command.type !== "set-folders") return sendCommand(command, sender, context);
  const agent = findAgent(agents, context.driver.state.agent?.spec.name);
  const folders = await resolveExtraFolders(agent, command.folders);
  return sendCommand({ ...command, folders }, sender, context);
}

/** The session of a worker to which a decision belongs. Undefined if the decision was made here, or is refused here. */
function readDecidingSession(reply: CommandReply): string | undefined {
  if (reply.status === "accepted") return undefined;
  const { decidingSessionId } = reply.failure.details;
  return typeof decidingSessionId === "string" ? decidingSessionId : undefined;
}

interface ClientToolsContext {
  readonly sessionId: string;
  readonly acceptsClientTools: boolean;
  readonly withDriver: WithDriver;
}

async function setClientTools(
  equipment: ClientTools,
  { principal, clientId }: ClientSender,
  { sessionId, withDriver, acceptsClientTools }: ClientToolsContext,
): Promise<SetClientToolsReply> {
  if (!hasNoClientTools(equipment) && !principal.rights.includes("control")) {
    return refuse("access_denied", "Adding MCP servers or tools needs the right to control");
  }
  if (!acceptsClientTools) {
    return refuse("invalid_option", "This program does not accept client tools");
  }
  return withDriver(sessionId, async (driver): Promise<SetClientToolsReply> => {
    if (findRole(driver.state.clients, clientId) === undefined) {
      return refuse("not_found", "Only an attached client can add tools");
    }
    return { status: "accepted", problems: await driver.setClientTools(clientId, equipment) };
  });
}

/**
 * Throws `no_credentials` if an agent has none. Other errors, and checks slower than `MAX_WAIT_MS`, are left to the
 * next turn.
 */
async function checkAgentCredentials(
  { provider }: Pick<Agent, "provider">,
  clock: Clock,
): Promise<void> {
  const looking = provider.checkCredentials?.();
  if (looking === undefined) return;
  const found = looking.catch((error: unknown) => {
    if (error instanceof SpanlineError && error.code === "no_credentials") throw error;
  });
  await waitWithTimeout(clock, MAX_WAIT_MS, found);
}

/** Milliseconds. Enough to load the credential chain, so opening a session is not delayed further. */
const MAX_WAIT_MS = 3000;

/** The messages of a session as they were after the event `through`, with the bytes of their images. */
async function readSessionHistory(
  store: Pick<LogStore, "readPage"> & Pick<BlobStore, "readBlob">,
  sessionId: string,
  through: number,
): Promise<readonly ModelMessage[]> {
  let conversation = initialConversation;
  for (let seq = 0; seq < through;) {
    const events = await store.readPage(sessionId, seq);
    for (const envelope of events) {
      if (envelope.seq <= through) conversation = evolveConversation(conversation, envelope);
    }
    seq = events.at(-1)?.seq ?? through;
  }
  return loadMessageImages(conversation.messages, (blobId) => store.readBlob(sessionId, blobId));
}
