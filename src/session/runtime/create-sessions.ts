import { waitWithTimeout } from "../../async/pause.ts";
import {
  hasNoClientTools,
  type SetClientToolsReply,
  type ClientTools,
} from "../../domain/client-tools.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { listLiveClients } from "../../domain/live-client.ts";
import type { SteadyClock, Clock } from "../../platform/clock.ts";
import type { Store } from "../../store/store.ts";
import { findRole } from "../clients/clients-state.ts";
import { refuse } from "../refuse-command.ts";
import type { SessionState } from "../session-state.ts";
import type { ClientSender, Sessions, SessionStatus } from "../sessions.ts";
import { listToolRules } from "../tools/list-tool-rules.ts";
import type { Agent } from "./agent/agent.ts";
import type { OpenClientTools } from "./agent/session-client-tools.ts";
import type { Seed } from "../../domain/id.ts";
import { randomSeed } from "../../platform/random.ts";
import { createDriverPool } from "./driver-pool.ts";
import type { Driver } from "./driver.ts";
import { readSessionHistory } from "./history/session-history.ts";
import type { MemoryLimits } from "./idle-eviction.ts";
import type { ReceiptHeads } from "./log/receipt-head.ts";
import type { VerifySignature } from "./log/receipt-verifier.ts";
import type { SignContent } from "./log/sign-receipts.ts";
import { isTransientStoreError } from "./log/write-retry.ts";
import {
  openDriver,
  resumeDriver,
  type OpenedDriver,
  createUnknownSessionError,
} from "./open-driver.ts";
import { resumeInterruptedSessions } from "./resume-interrupted-sessions.ts";
import { sendCommand } from "./send-command.ts";
import { resolveExtraFolders } from "./session-folders.ts";
import {
  findAgent,
  readAgentSpec,
  createSessionOpening,
  type WithDriver,
} from "./session-opening.ts";
import { createSessionReaders } from "./session-readers.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface SessionsOptions {
  readonly store: Store;
  /** The first agent is the default. */
  readonly agents: readonly Agent[];
  readonly clock: SteadyClock;
  /** Identifies this process among possible owners of a session. */
  readonly owner: string;
  readonly coalesceMs?: number;
  /**
   * Deterministic id seed for golden tests: 13 characters, unique per call. A seed of 23 characters also replaces the
   * time in ids. Default: random.
   */
  readonly seed?: Seed;
  /** Signs receipts. Without it, they are unsigned. */
  readonly sign?: SignContent;
  /** Verifies receipts: approvals count only if signed by this user. Without it, the log is trusted. */
  readonly verify?: VerifySignature;
  /** Records the last receipt of each log. Without it, a truncated log is not detected. */
  readonly heads?: ReceiptHeads;
  /**
   * Milliseconds. A session unused for this long is evicted from memory; its next command loads it from the log.
   * Default: 1 minute.
   */
  readonly idleMs?: number;
  /**
   * Limits of sessions in memory. Beyond them, the least recently used sessions are evicted earlier. Default: 1,000
   * sessions, 64 MB.
   */
  readonly memory?: Partial<MemoryLimits>;
  /** Aborted at process shutdown: sessions being opened or resumed are abandoned. */
  readonly signal?: AbortSignal;
  /** Opens client tools. Without it, clients cannot add tools. */
  readonly openClientTools?: OpenClientTools;
  /** Called with errors which no caller receives. */
  report?(error: unknown): void;
  /** Called when a session cannot continue here after all retries. Its next use tries again. */
  onSessionFailed?(sessionId: string, error: unknown): void;
}

export interface RunningSessions extends Sessions {
  /** Resumes sessions interrupted in another process: unfinished turns, and deadlines in the past. */
  resumeInterrupted(): Promise<void>;
  close(): Promise<void>;
}

/** Creates the sessions of this process. Each session has a driver while it is in use. */
export function createSessions(options: SessionsOptions): RunningSessions {
  const { store, clock, owner, agents, coalesceMs = 16, idleMs = DEFAULT_IDLE_MS } = options;
  const { seed = randomSeed } = options;
  const report = (error: unknown): void => options.report?.(error);
  const { sign, verify, heads, signal } = options;
  const signing = omitUndefined({ sign, verify, heads });
  const { openClientTools } = options;
  const clientToolsField = openClientTools === undefined ? {} : { openClientTools };
  const environment = {
    store,
    clock,
    owner,
    coalesceMs,
    seed,
    report,
    ...signing,
    ...clientToolsField,
  };
  const drivers = createDriverPool({
    clock,
    idleMs,
    limits: { ...DEFAULT_LIMITS, ...options.memory },
    report,
    ...omitUndefined({ signal }),
    resume: async (sessionId) => {
      const record = await store.findSession(sessionId);
      if (record === undefined || record.state === "idle" || isClosed) return;
      await load(sessionId);
    },
    onGiveUp: (sessionId, error) => options.onSessionFailed?.(sessionId, error),
  });
  const readers = createSessionReaders();
  const pendingWork = new Set<Promise<unknown>>();
  let isClosed = false;

  const whileOpen = <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (isClosed) return Promise.reject(createClosedError());
    const done = work().finally(() => pendingWork.delete(done));
    pendingWork.add(done);
    return done;
  };

  const withDriver: WithDriver = (sessionId, work) =>
    drivers.use(sessionId, {
      start: async (parts) => {
        await drivers.waitUntilEnded(sessionId);
        const isSameProcess = drivers.hasFailedHere(sessionId);
        const findNamedAgent = (name: string): Agent => findAgent(agents, name);
        return resumeDriver({ sessionId, ...parts }, findNamedAgent, {
          ...environment,
          isHere: isSameProcess,
        });
      },
      work,
    });
  const load = (sessionId: string): Promise<void> => withDriver(sessionId, () => undefined);

  const { open, openWithPrompt } = createSessionOpening({
    store,
    clock,
    agents,
    seed,
    readers,
    withDriver,
    openDriver: async (sessionId, opening) => {
      let done: OpenedDriver | undefined;
      return drivers.use(sessionId, {
        start: async (parts) => {
          done = await openDriver({ sessionId, ...parts }, opening, environment);
          return done.driver;
        },
        work: () => done,
        isOneShot: opening.createFirstInput !== undefined,
      });
    },
  });

  const command: Sessions["command"] = (sessionId, request, from) =>
    withDriver(sessionId, async (driver) => {
      const checked =
        request.type === "set-folders"
          ? {
              ...request,
              folders: await resolveExtraFolders(resolveAgent(driver), request.folders),
            }
          : request;
      return sendCommand(checked, from, { sessionId, store, driver, readers });
    });

  const resolveAgent = (driver: Driver): Agent => findAgent(agents, driver.state.agent?.spec.name);

  async function equip(
    sessionId: string,
    equipment: ClientTools,
    { principal, clientId }: ClientSender,
  ): Promise<SetClientToolsReply> {
    if (!hasNoClientTools(equipment) && !principal.rights.includes("control")) {
      return refuse("access_denied", "Adding MCP servers or tools needs the right to control");
    }
    if (openClientTools === undefined) {
      return refuse("invalid_option", "This program does not accept client tools");
    }
    return withDriver(sessionId, async (driver): Promise<SetClientToolsReply> => {
      if (findRole(driver.state.clients, clientId) === undefined) {
        return refuse("not_found", "Only an attached client can add tools");
      }
      return { status: "accepted", problems: await driver.setClientTools(clientId, equipment) };
    });
  }

  const recover = (): Promise<void> =>
    resumeInterruptedSessions({
      store,
      resume: async (sessionId) => {
        await load(sessionId).catch((error: unknown) => {
          if (isClosed) return;
          if (isTransientStoreError(error)) drivers.resumeLater(sessionId, error);
          else report(error);
        });
      },
      isOver: () => isClosed,
    });

  return {
    agents: agents.map(({ spec }) => spec.name),
    open: (request) => whileOpen(() => open(request)),
    openWithPrompt: (request, first) => whileOpen(() => openWithPrompt(request, first)),
    command: (sessionId, request, from) => whileOpen(() => command(sessionId, request, from)),
    setClientTools: (sessionId, equipment, from) =>
      whileOpen(() => equip(sessionId, equipment, from)),
    subscribe: (sessionId, cursor, signal) =>
      readers.trackReader(sessionId, signal, store.subscribe(sessionId, cursor, signal)),
    checkCredentials: (agent) =>
      whileOpen(async () => checkAgentCredentials(findAgent(agents, agent), clock)),
    checkLog: () =>
      whileOpen(async () => {
        const error = drivers.findWriteError();
        if (error !== undefined) throw error;
        await store.probe();
      }),
    status: (sessionId) =>
      whileOpen(() => withDriver(sessionId, ({ state }) => readSessionStatus(state, sessionId))),
    readHistory: (sessionId, through) =>
      whileOpen(() => readSessionHistory(store, sessionId, through)),
    listToolRules: (sessionId) =>
      whileOpen(() =>
        withDriver(sessionId, (driver) =>
          listToolRules(readAgentSpec(driver, sessionId), driver.state.mode),
        ),
      ),
    find: (sessionId) => store.findSession(sessionId),
    list: (query) => store.listSessions(query),

    delete: (sessionId) =>
      whileOpen(async () => {
        await drivers.remove(sessionId);
        return store.deleteSession(sessionId);
      }),

    resumeInterrupted: () => whileOpen(recover),

    async close() {
      isClosed = true;
      drivers.stopStarting();
      // Requests in progress are logged before their drivers close.
      await Promise.allSettled(pendingWork);
      await drivers.close();
    },
  };
}

const DEFAULT_IDLE_MS = 60_000;
const DEFAULT_LIMITS: MemoryLimits = { sessions: 1000, bytes: 64_000_000 };

function createClosedError(): SpanlineError {
  return new SpanlineError("aborted", "The sessions are closed: no further requests are accepted");
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

/** Collects the status of a session from its state. */
function readSessionStatus(state: SessionState, sessionId: string): SessionStatus {
  const {
    agent,
    mode,
    metadata,
    usage,
    submittedPrompts,
    hiddenPromptIds,
    turn,
    clients,
    approvals,
  } = state;
  if (agent === null) throw createUnknownSessionError(sessionId);
  return {
    agent: agent.spec,
    mode,
    metadata,
    usage,
    grants: approvals.grants,
    lastPrompt: submittedPrompts.at(-1) ?? null,
    pendingToolCallIds: turn.current?.pause?.toolCallIds ?? [],
    promptTools: turn.current?.options?.tools?.map(({ name }) => name) ?? [],
    hiddenPromptIds,
    clients: listLiveClients(clients),
  };
}
