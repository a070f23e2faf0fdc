import { SpanlineError } from "../../domain/errors.ts";
import type { AgentSpec } from "../../domain/agent-spec.ts";
import type { ModelMessage } from "../../domain/model/model-request.ts";
import type { CommandReply } from "../../domain/session-command.ts";
import type { SessionMode } from "../../domain/session-mode.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import type { SessionRecord } from "../../store/session-index.ts";
import type { Store } from "../../store/store.ts";
import { checkOpening, resolveUpstreamId } from "../check-open-options.ts";
import type { FirstPrompt, OpenOptions, Sessions } from "../sessions.ts";
import type { Agent } from "./agent/agent.ts";
import { createId, type Seed } from "../../domain/id.ts";
import type { Driver } from "./driver.ts";
import { createFirstInput } from "./first-input.ts";
import { evolveConversation, initialConversation, selectHistory } from "./history/conversation.ts";
import { loadMessageImages } from "./history/load-images.ts";
import {
  createUnknownSessionError,
  type OpenedDriver,
  type SessionOpening,
} from "./open-driver.ts";
import { sendCommand } from "./send-command.ts";
import type { SessionReaders } from "./session-readers.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

/** Runs `work` with the driver of an existing session, which stays in memory until the work is done. */
export type WithDriver = <Result>(
  sessionId: string,
  work: (driver: Driver) => Promise<Result> | Result,
) => Promise<Result>;

export interface OpeningContext {
  readonly store: Store;
  readonly clock: SteadyClock;
  readonly agents: readonly Agent[];
  readonly seed: Seed;
  readonly readers: SessionReaders;
  readonly withDriver: WithDriver;
  /** Opens a session with its driver. Undefined if a concurrent caller opened it. */
  readonly openDriver: (
    sessionId: string,
    opening: SessionOpening,
  ) => Promise<OpenedDriver | undefined>;
}

/** Creates the methods which open sessions, empty or with a first prompt. */
export function createSessionOpening(
  context: OpeningContext,
): Pick<Sessions, "open" | "openWithPrompt"> {
  const { store, clock, agents, seed } = context;

  const resolveSessionId = ({ sessionId }: OpenOptions): string =>
    sessionId ?? createId("ses", clock.now(), seed());
  const findExisting = async ({ sessionId }: OpenOptions): Promise<SessionRecord | undefined> =>
    sessionId === undefined ? undefined : store.findSession(sessionId);

  return {
    async open(request) {
      checkOpening(request);
      findAgent(agents, request.agent);
      const existing = await findExisting(request);
      if (existing !== undefined) return existing;
      const sessionId = resolveSessionId(request);
      await openNew(sessionId, request, context);
      return readRecord(store, sessionId);
    },
    async openWithPrompt(request, first) {
      checkOpening(request);
      const agent = findAgent(agents, request.agent);
      const existing = await findExisting(request);
      const sessionId = resolveSessionId(request);
      const principal = request.principal.id;
      if (existing === undefined) {
        const opened = await openNew(sessionId, request, {
          ...context,
          createFirstInput: (facts) => createFirstInput(first, facts),
        });
        const { incarnation, reply } = opened ?? {};
        if (incarnation !== undefined && reply !== undefined)
          return { sessionId, incarnation, agent: agent.spec.name, principal, seq: 0, reply };
      }
      const record = existing ?? (await readRecord(store, sessionId));
      if (record.principal !== principal || record.label !== (request.label ?? null)) return record;
      const reply = await submitFirstPrompt(sessionId, first, context);
      return { ...record, reply };
    },
  };
}

interface NewSessionContext extends OpeningContext {
  readonly createFirstInput?: SessionOpening["createFirstInput"];
}

async function openNew(
  sessionId: string,
  options: OpenOptions,
  { store, agents, openDriver, createFirstInput }: NewSessionContext,
): Promise<OpenedDriver | undefined> {
  const agent = findAgent(agents, options.agent);
  const request = await addCopiedHistory(store, options);
  const folders = await resolveExtraFolders(agent, request.folders ?? []);
  const workingDirectory = await resolveSessionFolder(agent, request);
  const openInput = createOpenInput(sessionId, { ...request, ...workingDirectory, folders });
  return openDriver(sessionId, { agent, openInput, ...omitUndefined({ createFirstInput }) });
}

/** Sends the first prompt to a session which exists already. */
function submitFirstPrompt(
  sessionId: string,
  first: FirstPrompt,
  { store, readers, withDriver }: OpeningContext,
): Promise<CommandReply> {
  return withDriver(sessionId, (driver) => {
    const prompt = first.createPrompt(readAgentSpec(driver, sessionId));
    return sendCommand(prompt, first.sender, { sessionId, store, driver, readers });
  });
}

/** Replaces the history by the copied session's. The copy must pass the same limits. */
async function addCopiedHistory(
  store: Store,
  options: OpenOptions,
): Promise<OpenOptions & Partial<CopiedSession>> {
  if (options.copyOf === undefined) return options;
  const copied = { ...options, ...(await copySession(store, options.copyOf, options.copyThrough)) };
  checkOpening(copied);
  return copied;
}

function createOpenInput(sessionId: string, request: OpenOptions & Partial<CopiedSession>) {
  const {
    principal,
    title,
    metadata,
    workingDirectory,
    folders = [],
    label,
    history,
    mode,
    lineage,
    budget,
    reminders,
  } = request;
  const upstreamId = resolveUpstreamId(sessionId, request);
  return {
    type: "open-requested",
    principal: principal.id,
    ...omitUndefined({ title, workingDirectory }),
    ...(folders.length > 0 && { folders }),
    ...omitUndefined({ metadata, label, upstreamId, history, mode, lineage, budget, reminders }),
  } as const;
}

export function readAgentSpec({ state }: Driver, sessionId: string): AgentSpec {
  if (state.agent === null) throw createUnknownSessionError(sessionId);
  return state.agent.spec;
}

/** Returns the agent of this name, or the default. Throws `not_found`. */
export function findAgent(agents: readonly Agent[], name: string | undefined): Agent {
  const agent = name === undefined ? agents[0] : agents.find(({ spec }) => spec.name === name);
  if (agent !== undefined) return agent;
  throw createUnknownAgentError(
    name,
    agents.map(({ spec }) => spec.name),
  );
}

export function createUnknownAgentError(
  name: string | undefined,
  agentNames: readonly string[],
  details: SpanlineError["details"] = {},
): SpanlineError {
  const message = formatUnknownName("Agent", name ?? "default", { names: agentNames });
  return new SpanlineError("not_found", message, { details });
}

async function readRecord(store: Store, sessionId: string): Promise<SessionRecord> {
  const record = await store.findSession(sessionId);
  if (record === undefined) throw createUnknownSessionError(sessionId);
  return record;
}

/** The initial content of a copied session. */
interface CopiedSession {
  /** Messages of both sides, up to the last complete response before the end of the copy. */
  readonly history: readonly ModelMessage[];
  readonly mode: SessionMode;
}

/** Copies a session up to the event `through`. An event inside an invocation stands for the end of the invocation. */
async function copySession(
  store: Pick<Store, "readPage" | "readBlob">,
  sessionId: string,
  through = Number.MAX_SAFE_INTEGER,
): Promise<CopiedSession> {
  let conversation = initialConversation;
  let mode: SessionMode = "default";
  for (let seq = 0, hasMore = true; hasMore;) {
    const events = await store.readPage(sessionId, seq);
    for (const envelope of events) {
      if (envelope.seq > through && conversation.invocation === null) break;
      conversation = evolveConversation(conversation, envelope);
      if (envelope.event.type === "session.mode_changed") ({ mode } = envelope.event);
    }
    seq = events.at(-1)?.seq ?? seq;
    hasMore = events.length > 0 && (seq < through || conversation.invocation !== null);
  }
  const { messages, lastResponseStart, openToolCallIds } = conversation;
  // A response with tool calls is complete with their results, also before the agent has received the results.
  const completedMessages =
    openToolCallIds.length > 0
      ? messages.slice(0, lastResponseStart)
      : selectHistory(conversation, false).messages;
  const history = await loadMessageImages(completedMessages, (blobId) =>
    store.readBlob(sessionId, blobId),
  );
  return { history, mode };
}

/** Resolves the working directory of a session. */
async function resolveSessionFolder(
  { resolveFolder }: Agent,
  { workingDirectory: requestedFolder }: OpenOptions,
): Promise<Pick<OpenOptions, "workingDirectory">> {
  return resolveFolder === undefined
    ? {}
    : { workingDirectory: await resolveFolder(requestedFolder) };
}

/** Filters the additional folders the agent may use. A folder inside its working directory is dropped as redundant. */
export async function resolveExtraFolders(
  { resolveFolder: folderFor }: Agent,
  folders: readonly string[],
): Promise<readonly string[]> {
  if (folderFor === undefined) return [];
  const places = await Promise.all(folders.map((folder) => folderFor(folder)));
  return folders.filter((folder, at) => places[at] === folder);
}
