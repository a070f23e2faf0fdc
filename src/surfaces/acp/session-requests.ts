import type { ApprovalRequested } from "../../domain/agent-event.ts";
import type { BroughtServer } from "../../domain/equipment.ts";
import { SpanlineError, type Failure } from "../../domain/errors.ts";
import {
  doneAnswer,
  failureError,
  listAnswer,
  newSessionAnswer,
} from "../../wire/acp/agent-answers.ts";
import type { ClientRequest, SessionSetup } from "../../wire/acp/client-request.ts";
import { clientsAnswer, liveAnswer, type LiveRequest } from "../../wire/acp/live-requests.ts";
import { updateCursorText } from "../../wire/acp/update-cursor.ts";
import { internalError, type RpcError } from "../../wire/jsonrpc/rpc-error.ts";
import type { RequestId, RpcAnswer, RpcRequest } from "../../wire/jsonrpc/rpc-message.ts";
import { type AcpSession, createAcpSession, type FollowOptions } from "./acp-session.ts";
import { checkCursor } from "./check-cursor.ts";
import { checkSetup } from "./check-setup.ts";
import type { ClientLink } from "./client-link.ts";
import { liveAfter, liveCommand } from "./live-requests.ts";
import { findSession, latestSession, type SessionEntry } from "./find-session.ts";

export type SessionRequest = Exclude<ClientRequest, { type: "initialize" | "authenticate" }>;

/** What a client can want of its sessions. Each is done when the session has taken it, not when its turn is over. */
export interface SessionRequests {
  perform(request: RpcRequest, wanted: SessionRequest): Promise<void>;
  cancel(sessionId: string): Promise<void>;
  /** One prompt is not wanted any more. Other requests are answered soon anyway. */
  cancelPrompt(sessionId: string, requestId: RequestId): Promise<void>;
  answered(sessionId: string, approval: ApprovalRequested, answer: RpcAnswer): Promise<void>;
  leave(reason: string): Promise<void>;
}

/** `fixed` is what `session/new` gives instead of a new session: an id, or "latest". */
export function sessionRequests(link: ClientLink, fixed: string | undefined): SessionRequests {
  const { sessions } = link;
  const { principal } = link.sender;
  const joined = new Map<string, AcpSession>();

  /** The session with its client attached to it, and with what that brings. */
  async function join(sessionId: string, servers?: readonly BroughtServer[]): Promise<AcpSession> {
    const session = joined.get(sessionId) ?? createAcpSession(sessionId, link);
    joined.set(sessionId, session);
    const reply = await session.attach();
    if (reply.status === "refused") throw thrown(reply.failure);
    await session.equip(servers);
    return session;
  }

  async function find(sessionId: string): Promise<SessionEntry> {
    const found = await findSession(sessions, sessionId, principal);
    if (found !== undefined) return found;
    throw new SpanlineError("not_found", "There is no such session", { details: { sessionId } });
  }

  /** Looks twice: to join a session whose process was killed is to recover it, and that is part of what was before. */
  async function joinExisting(
    sessionId: string,
    servers?: readonly BroughtServer[],
  ): Promise<{ session: AcpSession; seq: number; cursor: string | undefined }> {
    await find(sessionId);
    const session = await join(sessionId, servers);
    const found = await find(sessionId);
    return { session, seq: found.seq, cursor: placeAt(found, found.seq) };
  }

  async function sessionFor({ workingDirectory }: SessionSetup): Promise<SessionEntry> {
    if (fixed !== undefined && fixed !== "latest") return find(fixed);
    const latest = fixed === "latest" ? await latestSession(sessions, principal) : undefined;
    return latest ?? sessions.open({ principal, ...folder(workingDirectory) });
  }

  /** Others work where the agent does. */
  function folder(workingDirectory: string): Pick<Opening, "workingDirectory"> {
    return link.isUser && principal.rights.includes("control") ? { workingDirectory } : {};
  }

  async function begin(request: RpcRequest, setup: SessionSetup): Promise<void> {
    checkSetup(link, setup);
    const found = await sessionFor(setup);
    const { sessionId, seq } = found;
    const session = await join(sessionId, setup.servers);
    // The client does not know the id before it has this answer, so nothing may come ahead of it.
    link.answer(request, { ok: true, result: newSessionAnswer(sessionId, placeAt(found, 0)) });
    if (!session.isFollowed) await session.follow({ upTo: seq, history: "shown" });
  }

  /** One that comes with a cursor is told what came since; else all, or where it has what was said, what comes. */
  async function follow(
    request: RpcRequest,
    sessionId: string,
    setup: SessionSetup & Pick<FollowOptions, "history">,
  ): Promise<void> {
    const { servers, from, history } = setup;
    checkSetup(link, setup);
    if (from !== undefined) await checkCursor(sessions, await find(sessionId), from);
    const { session, seq, cursor } = await joinExisting(sessionId, servers);
    const caughtUp = (): void => done(request, cursor);
    if (from !== undefined) return session.follow({ upTo: seq, history, from, caughtUp });
    if (history === "hidden" && session.isFollowed) return done(request);
    await session.follow({ upTo: seq, history, caughtUp });
  }

  /** The client was told what was said in the other one, and knows it of this one. */
  async function fork(request: RpcRequest, source: string, setup: SessionSetup): Promise<void> {
    checkSetup(link, setup);
    const { agent } = await find(source);
    const { workingDirectory } = setup;
    const { sessionId, seq } = await sessions.open({
      principal,
      agent,
      ...folder(workingDirectory),
      copyOf: source,
    });
    const session = await join(sessionId, setup.servers);
    link.answer(request, { ok: true, result: newSessionAnswer(sessionId) });
    await session.follow({ upTo: seq, history: "hidden" });
  }

  /** What the client has begun ends, and what nobody else follows; the session itself stays. */
  async function close(request: RpcRequest, sessionId: string): Promise<void> {
    const session = joined.get(sessionId);
    if (session === undefined) await find(sessionId);
    joined.delete(sessionId);
    await session?.close();
    done(request);
  }

  async function remove(request: RpcRequest, sessionId: string): Promise<void> {
    const session = joined.get(sessionId);
    joined.delete(sessionId);
    await session?.close();
    // One that is not there, or is another's, is gone for this client already.
    const found = await findSession(sessions, sessionId, principal);
    if (found !== undefined) await sessions.delete(sessionId);
    done(request);
  }

  async function list(
    request: RpcRequest,
    { workingDirectory, page }: Extract<SessionRequest, { type: "list" }>,
  ): Promise<void> {
    const found = await sessions.list({
      limit: PAGE,
      principal: principal.id,
      ...(workingDirectory !== undefined && { workingDirectory }),
      ...(page !== undefined && { page }),
    });
    link.answer(request, { ok: true, result: listAnswer(found.sessions, found.nextPage) });
  }

  async function live(request: RpcRequest, wanted: LiveRequest): Promise<void> {
    const { sessionId } = wanted;
    await find(sessionId);
    if (wanted.type === "clients") {
      const { clients } = await sessions.peek(sessionId);
      return link.answer(request, { ok: true, result: clientsAnswer(clients) });
    }
    const session = joined.get(sessionId) ?? createAcpSession(sessionId, link);
    const command = liveCommand(wanted);
    const reply =
      command.type === "attach" ? await session.attachAs(command) : await session.command(command);
    if (reply.status === "refused") throw thrown(reply.failure);
    const result = liveAnswer(await liveAfter(reply, wanted, sessions));
    link.answer(request, { ok: true, result });
    if (wanted.type === "attach") await followAs(session, sessionId);
  }

  /** Under its own name the client is told what comes; what was said before it can load. */
  async function followAs(session: AcpSession, sessionId: string): Promise<void> {
    joined.set(sessionId, session);
    const { seq } = await find(sessionId);
    await session.follow({ upTo: seq, history: "hidden" });
  }

  function done(request: RpcRequest, cursor?: string): void {
    link.answer(request, { ok: true, result: doneAnswer(cursor) });
  }

  function placeAt({ incarnation }: SessionEntry, seq: number): string | undefined {
    return link.hasCursors ? updateCursorText({ incarnation, seq, told: 0 }) : undefined;
  }

  /** A session that this connection has neither begun nor loaded is taken up where it is. */
  async function takeUp(sessionId: string): Promise<AcpSession> {
    const known = joined.get(sessionId);
    if (known?.isFollowed === true) return known;
    const { session, seq } = await joinExisting(sessionId);
    await session.follow({ upTo: seq, history: "hidden" });
    return session;
  }

  async function dispatch(request: RpcRequest, wanted: SessionRequest): Promise<void> {
    switch (wanted.type) {
      case "new":
        return begin(request, wanted);
      case "load":
        return follow(request, wanted.sessionId, { ...wanted, history: "shown" });
      case "resume":
        return follow(request, wanted.sessionId, { ...wanted, history: "hidden" });
      case "fork":
        return fork(request, wanted.sessionId, wanted);
      case "list":
        return list(request, wanted);
      case "close":
        return close(request, wanted.sessionId);
      case "delete":
        return remove(request, wanted.sessionId);
      case "attach":
      case "heartbeat":
      case "detach":
      case "clients":
        return live(request, wanted);
      case "prompt": {
        const session = await takeUp(wanted.sessionId);
        return session.prompt(request, wanted.command);
      }
    }
  }

  return {
    async perform(request, wanted) {
      try {
        await dispatch(request, wanted);
      } catch (error) {
        link.answer(request, { ok: false, error: errorOf(error) });
        if (!(error instanceof SpanlineError)) throw error;
      }
    },
    async cancel(sessionId) {
      await joined.get(sessionId)?.cancel();
    },
    async cancelPrompt(sessionId, requestId) {
      await joined.get(sessionId)?.cancel(requestId);
    },
    async answered(sessionId, approval, answer) {
      await joined.get(sessionId)?.answered(approval, answer);
    },
    async leave(reason) {
      await Promise.all([...joined.values()].map((session) => session.leave(reason)));
    },
  };
}

type Opening = Parameters<ClientLink["sessions"]["open"]>[0];

function thrown({ code, message, details }: Failure): SpanlineError {
  return new SpanlineError(code, message, { details });
}

/** What went wrong inside is for the log, not for the client. */
function errorOf(error: unknown): RpcError {
  return error instanceof SpanlineError
    ? failureError(error.toFailure())
    : internalError("Internal error");
}

/** Sessions in one answer. */
const PAGE = 50;
