import { errorFrom } from "../../domain/errors.ts";
import { jsonText } from "../../domain/json.ts";
import { knownSessionAnswer, newSessionAnswer } from "../../wire/acp/agent-answers.ts";
import type { SessionSetup } from "../../wire/acp/client-request.ts";
import { settingsAnswer, type SettingsAnswer } from "../../wire/acp/session-modes.ts";
import { commandsUpdate } from "../../wire/acp/slash-commands.ts";
import { updateCursorText } from "../../wire/acp/update-cursor.ts";
import type { RpcRequest } from "../../wire/jsonrpc/rpc-message.ts";
import type { AcpSession } from "./acp-session.ts";
import { checkCursor } from "./check-cursor.ts";
import { checkPresent } from "./check-present.ts";
import { checkSetup } from "./check-setup.ts";
import type { ClientLink } from "./client-link.ts";
import { latestSession, type SessionEntry } from "./find-session.ts";
import type { FollowOptions } from "./session-feed.ts";
import type { SessionTable } from "./session-table.ts";

/** How a client comes into a session: a new one, one that is there, or a copy of one. */
export interface SetupRequests {
  begin(request: RpcRequest, setup: SessionSetup): Promise<void>;
  /** One that comes with a cursor is told what came since; else all, or where it has what was said, what comes. */
  follow(request: RpcRequest, sessionId: string, setup: Following): Promise<void>;
  /**
   * The client was told what was said in the other one, and knows it of this one. Resolves when the copy is made, with what
   * puts the client into it: that is no matter of the other one.
   */
  fork(request: RpcRequest, source: string, setup: SessionSetup): Promise<() => Promise<void>>;
}

type SessionPlace = Pick<SessionSetup, "workingDirectory" | "folders">;
type Welcome = (request: RpcRequest, answer: (settings: SettingsAnswer) => unknown) => void;

type Following = SessionSetup & Pick<FollowOptions, "history">;

/** `fixed` is what `session/new` gives instead of a new session: an id, or "latest". */
export function setupRequests(
  link: ClientLink,
  table: SessionTable,
  fixed: string | undefined,
): SetupRequests {
  const { sessions } = link;
  const { principal } = link.sender;
  const isOwner = link.isUser && principal.rights.includes("control");

  async function sessionFor(setup: SessionSetup): Promise<SessionEntry> {
    const found = await fixedSession();
    const { agent } = found ?? setup;
    await sessions.ready(agent);
    checkPresent(link);
    const named = agent === undefined ? {} : { agent };
    return found ?? sessions.open({ principal, ...named, ...place(setup) });
  }

  async function fixedSession(): Promise<SessionEntry | undefined> {
    if (fixed === undefined) return undefined;
    return fixed === "latest" ? latestSession(sessions, principal) : table.find(fixed);
  }

  /** Others work where the agent does. */
  function place({ workingDirectory, folders }: SessionSetup): Partial<SessionPlace> {
    return isOwner ? { workingDirectory, folders } : {};
  }

  /** Whoever controls a session says what belongs to its workspace; all of it, each time. */
  async function extend(session: AcpSession, entry: SessionEntry, setup: SessionSetup) {
    const { folders } = setup;
    if (!isOwner || jsonText(folders) === jsonText(entry.folders)) return;
    if (!(await session.isController())) {
      const { sessionId } = entry;
      return link.log("another client says which folders a session has", { sessionId });
    }
    const reply = await session.command({ type: "extend", folders });
    if (reply.status === "refused") throw errorFrom(reply.failure);
  }

  function placeAt({ incarnation }: SessionEntry, seq: number): string | undefined {
    return link.hasCursors ? updateCursorText({ incarnation, seq, told: 0 }) : undefined;
  }

  /**
   * Answers with what a session is like, and says right behind that what can be typed in it. It is looked up as late as can
   * be: what changes after it is told as it comes.
   */
  async function welcoming(sessionId: string): Promise<Welcome> {
    const { mode, agent } = await sessions.peek(sessionId);
    return (request, answer) => {
      link.answer(request, { ok: true, result: answer(settingsAnswer(mode)) });
      link.update(sessionId, commandsUpdate(agent.commands));
    };
  }

  return {
    async begin(request, setup) {
      checkSetup(link, setup);
      const found = await sessionFor(setup);
      const { sessionId, seq } = found;
      const session = await table.join(sessionId, setup.servers);
      // Who is given a session that is there may not know its folders; who names some wants them.
      if (setup.folders.length > 0) await extend(session, found, setup);
      const welcome = await welcoming(sessionId);
      // The client does not know the id before it has this answer, so nothing may come ahead of it.
      welcome(request, (settings) => newSessionAnswer(sessionId, settings, placeAt(found, 0)));
      if (!session.isFollowed) await session.follow({ upTo: seq, history: "shown" });
    },
    async follow(request, sessionId, setup) {
      const { servers, from, history } = setup;
      checkSetup(link, setup);
      const found = await table.find(sessionId);
      await sessions.ready(found.agent);
      if (from !== undefined) await checkCursor(sessions, found, from);
      const { session, entry } = await table.joinExisting(sessionId, servers);
      await extend(session, entry, setup);
      const { seq: upTo } = entry;
      const welcome = await welcoming(sessionId);
      const done = (cursor?: string): void =>
        welcome(request, (settings) => knownSessionAnswer(settings, cursor));
      const caughtUp = (): void => done(placeAt(entry, upTo));
      if (from !== undefined) return session.follow({ upTo, history, from, caughtUp });
      if (history === "hidden" && session.isFollowed) return done();
      await session.follow({ upTo, history, caughtUp });
    },
    async fork(request, source, setup) {
      checkSetup(link, setup);
      const { agent, title } = await table.find(source);
      await sessions.ready(agent);
      checkPresent(link);
      const { sessionId, seq } = await sessions.open({
        principal,
        agent,
        ...(title !== null && { title: `${title} (fork)` }),
        ...place(setup),
        copyOf: source,
      });
      return async () => {
        const session = await table.join(sessionId, setup.servers);
        const welcome = await welcoming(sessionId);
        welcome(request, (settings) => newSessionAnswer(sessionId, settings));
        await session.follow({ upTo: seq, history: "hidden" });
      };
    },
  };
}
