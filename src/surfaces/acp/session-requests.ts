import type { ApprovalRequested } from "../../domain/agent-event.ts";
import { SpanlineError, type Failure } from "../../domain/errors.ts";
import { failureError, loadAnswer, newSessionAnswer } from "../../wire/acp/agent-answers.ts";
import type { ClientRequest, SessionSetup } from "../../wire/acp/client-request.ts";
import { internalError, type RpcError } from "../../wire/jsonrpc/rpc-error.ts";
import type { RpcAnswer, RpcRequest } from "../../wire/jsonrpc/rpc-message.ts";
import { type AcpSession, createAcpSession } from "./acp-session.ts";
import type { ClientLink } from "./client-link.ts";
import { findSession, latestSession, type SessionEntry } from "./find-session.ts";

type SessionRequest = Exclude<ClientRequest, { type: "initialize" }>;

/** What a client can want of its sessions. Each is done when the session has taken it, not when its turn is over. */
export interface SessionRequests {
  perform(request: RpcRequest, wanted: SessionRequest): Promise<void>;
  cancel(sessionId: string): Promise<void>;
  answered(sessionId: string, approval: ApprovalRequested, answer: RpcAnswer): Promise<void>;
  leave(reason: string): Promise<void>;
}

/** `fixed` is what `session/new` gives instead of a new session: an id, or "latest". */
export function sessionRequests(link: ClientLink, fixed: string | undefined): SessionRequests {
  const { sessions } = link;
  const { principal } = link.sender;
  const joined = new Map<string, AcpSession>();

  /** The session with its client attached to it. */
  async function join(sessionId: string): Promise<AcpSession> {
    const session = joined.get(sessionId) ?? createAcpSession(sessionId, link);
    joined.set(sessionId, session);
    const reply = await session.attach();
    if (reply.status === "accepted") return session;
    throw thrown(reply.failure);
  }

  async function find(sessionId: string): Promise<SessionEntry> {
    const found = await findSession(sessions, sessionId, principal);
    if (found !== undefined) return found;
    throw new SpanlineError("not_found", "There is no such session", { details: { sessionId } });
  }

  /** Looks twice: to join a session whose process was killed is to recover it, and that is part of what was before. */
  async function joinExisting(sessionId: string): Promise<{ session: AcpSession; seq: number }> {
    await find(sessionId);
    const session = await join(sessionId);
    return { session, seq: (await find(sessionId)).seq };
  }

  async function sessionFor({ workingDirectory }: SessionSetup): Promise<SessionEntry> {
    if (fixed !== undefined && fixed !== "latest") return find(fixed);
    const latest = fixed === "latest" ? await latestSession(sessions, principal) : undefined;
    return latest ?? sessions.open({ principal, workingDirectory });
  }

  async function begin(request: RpcRequest, setup: SessionSetup): Promise<void> {
    noteServers(setup);
    const { sessionId, seq } = await sessionFor(setup);
    const session = await join(sessionId);
    // The client does not know the id before it has this answer, so nothing may come ahead of it.
    link.answer(request, { ok: true, result: newSessionAnswer(sessionId) });
    if (!session.isFollowed) await session.follow({ upTo: seq, history: "shown" });
  }

  async function load(request: RpcRequest, sessionId: string, setup: SessionSetup): Promise<void> {
    noteServers(setup);
    const { session, seq } = await joinExisting(sessionId);
    const caughtUp = (): void => link.answer(request, { ok: true, result: loadAnswer() });
    await session.follow({ upTo: seq, history: "shown", caughtUp });
  }

  /** A session that this connection has neither begun nor loaded is taken up where it is. */
  async function takeUp(sessionId: string): Promise<AcpSession> {
    const known = joined.get(sessionId);
    if (known?.isFollowed === true) return known;
    const { session, seq } = await joinExisting(sessionId);
    await session.follow({ upTo: seq, history: "hidden" });
    return session;
  }

  function noteServers({ servers }: SessionSetup): void {
    if (servers.length > 0) link.log("a client's MCP servers are not connected", { servers });
  }

  async function dispatch(request: RpcRequest, wanted: SessionRequest): Promise<void> {
    switch (wanted.type) {
      case "new":
        return begin(request, wanted);
      case "load":
        return load(request, wanted.sessionId, wanted);
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
    async answered(sessionId, approval, answer) {
      await joined.get(sessionId)?.answered(approval, answer);
    },
    async leave(reason) {
      await Promise.all([...joined.values()].map((session) => session.leave(reason)));
    },
  };
}

function thrown({ code, message, details }: Failure): SpanlineError {
  return new SpanlineError(code, message, { details });
}

/** What went wrong inside is for the log, not for the client. */
function errorOf(error: unknown): RpcError {
  return error instanceof SpanlineError
    ? failureError(error.toFailure())
    : internalError("Internal error");
}
