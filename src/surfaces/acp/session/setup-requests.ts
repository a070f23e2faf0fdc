import { toJsonText } from "../../../data/json.ts";
import { toSpanlineError, SpanlineError } from "../../../domain/errors.ts";
import type { SessionSetup } from "../../../wire/acp/decode/client-request.ts";
import {
  encodeSettings,
  type SettingsResult,
} from "../../../wire/acp/decode/session-mode-messages.ts";
import { createCommandsUpdate } from "../../../wire/acp/decode/slash-command.ts";
import {
  encodeExistingSessionResult,
  encodeNewSessionResult,
} from "../../../wire/acp/encode/encode-results.ts";
import { formatUpdateCursor } from "../../../wire/acp/encode/update-cursor.ts";
import type { RpcRequest } from "../../../wire/jsonrpc/rpc-message.ts";
import { checkConnected, type ClientLink } from "../connection/client-link.ts";
import type { AcpSession } from "./acp-session.ts";
import { checkCursor, findLatestSession, type SessionEntry } from "./find-session.ts";
import { findReadOnlyReason } from "./read-only-reason.ts";
import { followReadOnly, respondReadOnly } from "./read-only-sessions.ts";
import type { FollowOptions } from "./session-feed.ts";
import type { SessionTable } from "./session-table.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** The sessions of a connection. */
export interface SetupContext {
  readonly link: ClientLink;
  readonly table: SessionTable;
  /** The session `session/new` returns in place of a new session: an id, or "latest". */
  readonly fixedSession: string | undefined;
}

type FollowSetup = SessionSetup & Pick<FollowOptions, "history">;

/** `session/new`: a new session, or the fixed one. */
export async function openNewSession(
  context: SetupContext,
  request: RpcRequest,
  setup: SessionSetup,
): Promise<void> {
  const { link, table } = context;
  checkSetup(link, setup);
  const record = await openSession(context, setup);
  const { sessionId, seq: upTo } = record;
  const session = await table.join(sessionId, setup.servers);
  // A client that receives an existing session may not know its folders. An empty list keeps the session's folders.
  if (setup.folders.length > 0) await updateFolders(link, session, { entry: record, setup });
  const { settings, sendCommands } = await readWelcome(link, session, sessionId);
  // The client does not know the id before this response, so no update may precede it.
  const cursor = formatCursor(link, record, session.isFollowing ? session.sentSeq : 0);
  link.respond(request, { ok: true, result: encodeNewSessionResult(sessionId, settings, cursor) });
  sendCommands();
  if (!session.isFollowing) await session.follow({ upTo, history: "shown" });
}

/**
 * `session/load` and `session/resume`. With a cursor, sends the updates after the cursor; otherwise the history, or no
 * history.
 */
export async function followExistingSession(
  context: SetupContext,
  request: RpcRequest,
  { sessionId, ...setup }: FollowSetup & { readonly sessionId: string },
): Promise<void> {
  const { link, table } = context;
  checkSetup(link, setup);
  const entry = await table.find(sessionId);
  await link.sessions.checkCredentials(entry.agent);
  // Paused, because an update of the earlier feed would be sent again by the replay.
  const unpause = table.get(sessionId)?.pauseFeed() ?? (() => {});
  try {
    await followWith(context, request, { sessionId, setup, unpause });
  } catch (error) {
    const reason = findReadOnlyReason(error);
    if (reason === undefined) throw error;
    unpause();
    await followReadOnly(request, setup, { link, table, entry, reason });
  } finally {
    unpause();
  }
}

interface FollowRequest {
  readonly sessionId: string;
  readonly setup: FollowSetup;
  /** Ends the pause of the feed. */
  readonly unpause: () => void;
}

async function followWith(
  { link, table }: SetupContext,
  request: RpcRequest,
  { sessionId, setup, unpause }: FollowRequest,
): Promise<void> {
  const { servers, from, history } = setup;
  if (from !== undefined) await checkCursor(link.sessions, await table.find(sessionId), from);
  const { session, entry } = await table.joinExisting(sessionId, servers);
  await updateFolders(link, session, { entry, setup });
  const { settings, sendCommands } = await readWelcome(link, session, sessionId);
  const respond = (seq: number): void => {
    const result = encodeExistingSessionResult(settings, formatCursor(link, entry, seq));
    link.respond(request, { ok: true, result });
  };
  if (history === "hidden" && session.isFollowingFrom(from)) {
    respond(session.sentSeq);
    return sendCommands("if-changed");
  }
  const onCaughtUp = (): void => {
    respond(entry.seq);
    sendCommands();
  };
  unpause();
  try {
    await session.follow({
      upTo: entry.seq,
      history,
      onCaughtUp,
      ...omitUndefined({ from }),
    });
  } catch (error) {
    const reason = findReadOnlyReason(error);
    if (reason === undefined) throw error;
    // The client has the events before the damaged one. A reader does not keep control.
    respondReadOnly(request, sessionId, { link, reason });
    await session.disconnect("client_exit");
  }
}

/**
 * `session/fork`. The client knows the history from the source session. Resolves when the copy exists, with a function
 * that joins the copy: requests about the source session do not wait for the join.
 */
export async function forkSession(
  { link, table }: SetupContext,
  request: RpcRequest,
  { sessionId: source, ...setup }: SessionSetup & { readonly sessionId: string },
): Promise<() => Promise<void>> {
  checkSetup(link, setup);
  const { agent, title } = await table.find(source);
  await link.sessions.checkCredentials(agent);
  checkConnected(link);
  const { sessionId, seq } = await link.sessions.open({
    principal: link.sender.principal,
    agent,
    ...(title !== null && { title: `${title} (fork)` }),
    ...resolveLocation(link, setup),
    copyOf: source,
  });
  return async () => {
    const session = await table.join(sessionId, setup.servers);
    const { settings, sendCommands } = await readWelcome(link, session, sessionId);
    link.respond(request, { ok: true, result: encodeNewSessionResult(sessionId, settings) });
    sendCommands();
    await session.follow({ upTo: seq, history: "hidden" });
  };
}

async function openSession(context: SetupContext, setup: SessionSetup): Promise<SessionEntry> {
  const { link } = context;
  const record = await findFixedSession(context);
  const { agent } = record ?? setup;
  await link.sessions.checkCredentials(agent);
  checkConnected(link);
  const { principal } = link.sender;
  const named = agent === undefined ? {} : { agent };
  return record ?? link.sessions.open({ principal, ...named, ...resolveLocation(link, setup) });
}

async function findFixedSession({
  link,
  table,
  fixedSession,
}: SetupContext): Promise<SessionEntry | undefined> {
  if (fixedSession === undefined) return undefined;
  return fixedSession === "latest"
    ? findLatestSession(link.sessions, link.sender.principal)
    : table.find(fixedSession);
}

/** The folders from the local user's request; sessions of other clients use the agent's folder. */
function resolveLocation(
  link: ClientLink,
  { workingDirectory, folders }: SessionSetup,
): Partial<Pick<SessionSetup, "workingDirectory" | "folders">> {
  return isOwner(link) ? { workingDirectory, folders } : {};
}

function isOwner({ isLocalUser, sender }: ClientLink): boolean {
  return isLocalUser && sender.principal.rights.includes("control");
}

/** The controller of a session replaces the list of its folders. */
async function updateFolders(
  link: ClientLink,
  session: AcpSession,
  { entry, setup }: { readonly entry: SessionEntry; readonly setup: SessionSetup },
): Promise<void> {
  const { folders } = setup;
  if (!isOwner(link) || toJsonText(folders) === toJsonText(entry.folders)) return;
  if (!(await session.isController())) {
    const { sessionId } = entry;
    return link.log("only the controller of a session changes its folders", { sessionId });
  }
  const reply = await session.command({ type: "set-folders", folders });
  if (reply.status === "refused") throw toSpanlineError(reply.failure);
}

function formatCursor(
  link: ClientLink,
  { incarnation }: SessionEntry,
  seq: number,
): string | undefined {
  return link.hasCursors ? formatUpdateCursor({ incarnation, seq, updateOffset: 0 }) : undefined;
}

interface Welcome {
  readonly settings: SettingsResult;
  /** Sends the slash commands of the session, behind the response. */
  readonly sendCommands: (when?: "if-changed") => void;
}

/** Read right before the response; later changes are sent as updates. */
async function readWelcome(
  { sessions }: ClientLink,
  session: AcpSession,
  sessionId: string,
): Promise<Welcome> {
  const { mode, agent } = await sessions.status(sessionId);
  return {
    settings: encodeSettings(mode),
    sendCommands: (when) => session.sendCommands(createCommandsUpdate(agent.commands), when),
  };
}

/**
 * Refuses MCP servers and folders the client is not allowed to add, before any work starts. A client's MCP server is a
 * program started on this machine, or a request sent from it.
 */
function checkSetup(
  { sender, isLocalUser }: Pick<ClientLink, "sender" | "isLocalUser">,
  { servers, folders }: Pick<SessionSetup, "servers" | "folders">,
): void {
  const mayControl = sender.principal.rights.includes("control");
  if (folders.length > 0 && !(mayControl && isLocalUser)) {
    throw createAccessDeniedError("additionalDirectories", FOLDERS_NEED_LOCAL_USER);
  }
  if (servers.length === 0) return;
  if (!mayControl) throw createAccessDeniedError("mcpServers", SERVERS_NEED_CONTROL);
  if (!isLocalUser) throw createAccessDeniedError("mcpServers", SERVERS_NEED_LOCAL_USER);
}

function createAccessDeniedError(path: string, message: string): SpanlineError {
  return new SpanlineError("access_denied", message, { details: { path } });
}

const FOLDERS_NEED_LOCAL_USER =
  'Only the local user with the right "control" can add folders. Fix: leave additionalDirectories empty';

const SERVERS_NEED_CONTROL =
  'Adding MCP servers requires the right "control". Fix: connect with the token of the bridge, or leave mcpServers empty';
const SERVERS_NEED_LOCAL_USER =
  "Only the local user can add MCP servers. Fix: configure them for the agent, or leave mcpServers empty";
