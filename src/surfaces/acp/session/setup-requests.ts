import { toJsonText } from "../../../data/json.ts";
import { toSpanlineError, SpanlineError } from "../../../domain/errors.ts";
import type { Sessions } from "../../../session/sessions.ts";
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
import { formatUpdateCursor, type UpdateCursor } from "../../../wire/acp/encode/update-cursor.ts";
import type { RpcRequest } from "../../../wire/jsonrpc/rpc-message.ts";
import { checkConnected, type ClientLink } from "../connection/client-link.ts";
import type { AcpSession } from "./acp-session.ts";
import { findLatestSession, type SessionEntry } from "./find-session.ts";
import { findReadOnlyReason } from "./read-only-reason.ts";
import { followReadOnly, respondReadOnly } from "./read-only-sessions.ts";
import type { FollowOptions } from "./session-feed.ts";
import type { SessionTable } from "./session-table.ts";

/** How a client comes into a session: a new one, one that is there, or a copy of one. */
export interface SetupRequests {
  open(request: RpcRequest, setup: SessionSetup): Promise<void>;
  /** One that comes with a cursor is told what came since; else all, or where it has what was said, what comes. */
  follow(request: RpcRequest, sessionId: string, setup: FollowSetup): Promise<void>;
  /**
   * The client was told what was said in the other one, and knows it of this one. Resolves when the copy is made, with what
   * puts the client into it: that is no matter of the other one.
   */
  fork(request: RpcRequest, source: string, setup: SessionSetup): Promise<() => Promise<void>>;
}

type SessionLocation = Pick<SessionSetup, "workingDirectory" | "folders">;
type SendWelcome = (request: RpcRequest, answer: (settings: SettingsResult) => unknown) => void;

type FollowSetup = SessionSetup & Pick<FollowOptions, "history">;

/** `fixed` is what `session/new` gives instead of a new session: an id, or "latest". */
export function createSetupRequests(
  link: ClientLink,
  table: SessionTable,
  fixed: string | undefined,
): SetupRequests {
  const { sessions } = link;
  const { principal } = link.sender;
  const isOwner = link.isLocalUser && principal.rights.includes("control");

  async function openSession(setup: SessionSetup): Promise<SessionEntry> {
    const record = await fixedSession();
    const { agent } = record ?? setup;
    await sessions.checkCredentials(agent);
    checkConnected(link);
    const named = agent === undefined ? {} : { agent };
    return record ?? sessions.open({ principal, ...named, ...resolveLocation(setup) });
  }

  async function fixedSession(): Promise<SessionEntry | undefined> {
    if (fixed === undefined) return undefined;
    return fixed === "latest" ? findLatestSession(sessions, principal) : table.find(fixed);
  }

  /** Others work where the agent does. */
  function resolveLocation({ workingDirectory, folders }: SessionSetup): Partial<SessionLocation> {
    return isOwner ? { workingDirectory, folders } : {};
  }

  /** Whoever controls a session says what belongs to its workspace; all of it, each time. */
  async function updateFolders(session: AcpSession, entry: SessionEntry, setup: SessionSetup) {
    const { folders } = setup;
    if (!isOwner || toJsonText(folders) === toJsonText(entry.folders)) return;
    if (!(await session.isController())) {
      const { sessionId } = entry;
      return link.log("another client says which folders a session has", { sessionId });
    }
    const reply = await session.command({ type: "set-folders", folders });
    if (reply.status === "refused") throw toSpanlineError(reply.failure);
  }

  function formatCursor({ incarnation }: SessionEntry, seq: number): string | undefined {
    return link.hasCursors ? formatUpdateCursor({ incarnation, seq, updateOffset: 0 }) : undefined;
  }

  /**
   * Answers with what a session is like, and says right behind that what can be typed in it. It is looked up as late as can
   * be: what changes after it is told as it comes.
   */
  async function prepareWelcome(sessionId: string): Promise<SendWelcome> {
    const { mode, agent } = await sessions.status(sessionId);
    return (request, answer) => {
      link.respond(request, { ok: true, result: answer(encodeSettings(mode)) });
      link.sendUpdate(sessionId, createCommandsUpdate(agent.commands));
    };
  }

  async function followExisting(
    request: RpcRequest,
    sessionId: string,
    setup: FollowSetup,
  ): Promise<void> {
    const { servers, from, history } = setup;
    if (from !== undefined) await checkCursor(sessions, await table.find(sessionId), from);
    const { session, entry } = await table.joinExisting(sessionId, servers);
    await updateFolders(session, entry, setup);
    const { seq: upTo } = entry;
    const welcome = await prepareWelcome(sessionId);
    const sendResult = (cursor?: string): void =>
      welcome(request, (settings) => encodeExistingSessionResult(settings, cursor));
    const onCaughtUp = (): void => sendResult(formatCursor(entry, upTo));
    if (from === undefined && history === "hidden" && session.isFollowing) return sendResult();
    try {
      await session.follow({ upTo, history, onCaughtUp, ...(from !== undefined && { from }) });
    } catch (error) {
      const reason = findReadOnlyReason(error);
      if (reason === undefined) throw error;
      // The client has the events before the damaged one. A reader does not keep control.
      respondReadOnly(request, sessionId, { link, reason });
      await session.disconnect("client_exit");
    }
  }

  return {
    async open(request, setup) {
      checkSetup(link, setup);
      const record = await openSession(setup);
      const { sessionId, seq } = record;
      const session = await table.join(sessionId, setup.servers);
      // Who is given a session that is there may not know its folders; who names some wants them.
      if (setup.folders.length > 0) await updateFolders(session, record, setup);
      const welcome = await prepareWelcome(sessionId);
      // The client does not know the id before it has this answer, so nothing may come ahead of it.
      welcome(request, (settings) =>
        encodeNewSessionResult(sessionId, settings, formatCursor(record, 0)),
      );
      if (!session.isFollowing) await session.follow({ upTo: seq, history: "shown" });
    },
    async follow(request, sessionId, setup) {
      checkSetup(link, setup);
      const entry = await table.find(sessionId);
      await sessions.checkCredentials(entry.agent);
      try {
        await followExisting(request, sessionId, setup);
      } catch (error) {
        const reason = findReadOnlyReason(error);
        if (reason === undefined) throw error;
        await followReadOnly(request, setup, { link, table, entry, reason });
      }
    },
    async fork(request, source, setup) {
      checkSetup(link, setup);
      const { agent, title } = await table.find(source);
      await sessions.checkCredentials(agent);
      checkConnected(link);
      const { sessionId, seq } = await sessions.open({
        principal,
        agent,
        ...(title !== null && { title: `${title} (fork)` }),
        ...resolveLocation(setup),
        copyOf: source,
      });
      return async () => {
        const session = await table.join(sessionId, setup.servers);
        const welcome = await prepareWelcome(sessionId);
        welcome(request, (settings) => encodeNewSessionResult(sessionId, settings));
        await session.follow({ upTo: seq, history: "hidden" });
      };
    },
  };
}

/**
 * Rejects where what follows a cursor is not there, or not yet: whoever went on from it would miss something and not know.
 * The log itself says so, to whoever begins to read it there.
 */
async function checkCursor(
  sessions: Sessions,
  { sessionId, incarnation, seq }: Pick<SessionEntry, "sessionId" | "incarnation" | "seq">,
  from: UpdateCursor,
): Promise<void> {
  // There is nothing to read yet, and nothing wrong.
  if (from.incarnation === incarnation && from.seq === seq) return;
  const end = new AbortController();
  const cursor = { incarnation: from.incarnation, seq: from.seq };
  const events = sessions.subscribe(sessionId, cursor, end.signal)[Symbol.asyncIterator]();
  try {
    await events.next();
  } finally {
    end.abort();
    await events.return?.();
  }
}

/** Refuses, before anything is begun, what this client may not bring: a server of its is a program of ours, or a call. */
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
  "Folders are opened by this machine's user alone, with the right to control: leave additionalDirectories empty";

const SERVERS_NEED_CONTROL =
  "To bring MCP servers needs the right to control: connect with the token of the bridge, or leave mcpServers empty";
const SERVERS_NEED_LOCAL_USER =
  "MCP servers are taken from this machine's user alone: configure them for the agent, or leave mcpServers empty";
