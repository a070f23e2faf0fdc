import type { BroughtServer } from "../../domain/equipment.ts";
import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import type { PromptCommand } from "../../wire/acp/client-request.ts";
import type { ClientProfile } from "../../wire/acp/client-profile.ts";
import type { UpdateCursor } from "../../wire/acp/update-cursor.ts";
import type { AcpOutput, UpdateOptions } from "../../wire/acp/update-state.ts";
import { internalError } from "../../wire/jsonrpc/rpc-error.ts";
import type { RequestId, RpcRequest } from "../../wire/jsonrpc/rpc-message.ts";
import { attachClient } from "./attach-client.ts";
import type { ClientLink } from "./client-link.ts";
import { followSession } from "./follow-session.ts";
import { hostCalls } from "./host-calls.ts";
import { lateQuestions } from "./late-questions.ts";
import { openPrompts, type CancelCommand } from "./open-prompts.ts";
import { openQuestions, type OpenQuestions } from "./open-questions.ts";
import { ownEquipment } from "./own-equipment.ts";
import type { Deliver } from "./told-places.ts";
import { turnOfPrompt } from "./turn-of-prompt.ts";

/** A session on one client's connection. */
export interface AcpSession {
  readonly isFollowed: boolean;
  readonly answered: OpenQuestions["answered"];
  attach(): Promise<CommandReply>;
  /** The client has a name of its own here from now on, in place of the connection's. */
  attachAs(command: AttachCommand): Promise<CommandReply>;
  /** Brings what the client has along: these servers, and the tools of its machine. */
  equip(servers?: readonly BroughtServer[]): Promise<void>;
  /** As the client that it is here. */
  command(wanted: SessionCommand): Promise<CommandReply>;
  /** Tells the client everything; resolves when it has what was there before. Called again, it begins again. */
  follow(options: FollowOptions): Promise<void>;
  prompt(request: RpcRequest, command: PromptCommand): Promise<void>;
  /** Ends all that this client asked for, or what it asked for by this request; with nothing of its own, whatever runs. */
  cancel(requestId?: RequestId): Promise<void>;
  /** The client is done with it: what it began ends, and what nobody else follows. */
  close(): Promise<void>;
  /** The client goes; the session and what it waits for stay. */
  leave(reason: string): Promise<void>;
}

export interface FollowOptions extends Pick<UpdateOptions, "upTo" | "history"> {
  /** What the client has been told, in place of all or nothing of what was there before. */
  readonly from?: UpdateCursor;
  /** Called between the last word of before and the first live one. */
  readonly caughtUp?: () => void;
}

type AttachCommand = Extract<SessionCommand, { readonly type: "attach" }>;

export function createAcpSession(sessionId: string, shared: ClientLink): AcpSession {
  const { log } = shared;
  let { sender } = shared;
  const link: ClientLink = {
    ...shared,
    get sender() {
      return sender;
    },
  };
  const prompts = openPrompts(link);
  const questions = openQuestions(sessionId, link);
  const calls = hostCalls(sessionId, link);
  const equipment = ownEquipment(sessionId, link);
  let feed: AbortController | undefined;
  let isAttached = false;

  const command = (wanted: SessionCommand): Promise<CommandReply> =>
    link.sessions.command(sessionId, wanted, sender);

  function deliver(output: AcpOutput, cursor: string | undefined, caughtUp: () => void): void {
    switch (output.type) {
      case "update":
        return link.update(sessionId, output.update, cursor);
      case "event":
        return link.event(sessionId, output.update, cursor);
      case "ask":
        return questions.ask(output);
      case "decided":
        return questions.decided(output.approvalId);
      case "begun":
        return prompts.begun(output.promptId, output.turnId);
      case "answer":
        return prompts.finish(output.promptId, output.outcome);
      case "caught-up":
        return caughtUp();
    }
  }

  /** A prompt that has just got its turn can no longer be withdrawn, only stopped: that turn, and nobody else's. */
  async function cancelTurnOf(promptId: string): Promise<CommandReply> {
    const signal = feed?.signal ?? AbortSignal.abort();
    const turnId = await turnOfPrompt(link, { sessionId, promptId }, signal);
    return turnId === undefined ? { status: "accepted" } : command({ type: "cancel", turnId });
  }

  async function cancelAll(commands: readonly CancelCommand[]): Promise<void> {
    for (const wanted of commands) {
      let reply = await command(wanted);
      if (wanted.type === "withdraw" && reply.status === "refused") {
        reply = await cancelTurnOf(wanted.promptId);
      }
      if (reply.status === "accepted") continue;
      log("a cancel was refused", { sessionId, code: reply.failure.code });
    }
  }

  async function detach(reason: string): Promise<void> {
    if (!isAttached) return;
    isAttached = false;
    try {
      await command({ type: "detach", clientId: sender.clientId, reason });
    } catch (error) {
      log("a client could not be detached", { sessionId, error: String(error) });
    }
  }

  function lose(own: AbortController, error: unknown): void {
    if (feed === own) feed = undefined;
    log("a session can no longer be followed", { sessionId, error: String(error) });
    prompts.fail(internalError("The session can no longer be followed"));
  }

  return {
    get isFollowed() {
      return feed !== undefined;
    },
    answered: questions.answered,
    async attach() {
      if (isAttached) return { status: "accepted" };
      const reply = await attachClient(sessionId, link);
      isAttached = reply.status === "accepted";
      return reply;
    },
    async attachAs(wanted) {
      const before = sender;
      const isRenamed = wanted.clientId !== before.clientId;
      // It does not stand in its own way.
      if (isRenamed) await detach("client_renamed");
      const reply = await command(wanted);
      if (reply.status === "accepted") {
        sender = { ...before, clientId: wanted.clientId };
        isAttached = true;
        if (isRenamed) await equipment.again();
      } else if (isRenamed && feed !== undefined) {
        isAttached = (await attachClient(sessionId, link)).status === "accepted";
        await equipment.again();
      }
      return reply;
    },
    equip: equipment.bring,
    command,
    follow({ upTo, history, from, caughtUp }) {
      feed?.abort();
      const own = new AbortController();
      feed = own;
      const profile = (): ClientProfile => link.profile();
      const encoding = {
        sessionId,
        clientId: sender.clientId,
        profile,
        ...span(upTo, history, from),
      };
      return new Promise((resolve, reject) => {
        const caught = (): void => {
          caughtUp?.();
          resolve();
        };
        const told: Deliver = (output, cursor) => deliver(output, cursor, caught);
        const late = from === undefined ? undefined : lateQuestions(told);
        followSession({
          link,
          encoding,
          signal: own.signal,
          ...(from !== undefined && { from }),
          before(envelope) {
            calls.take(envelope);
            if (envelope.seq > upTo) late?.caughtUp();
          },
          after({ seq }) {
            if (seq < upTo) return;
            late?.caughtUp();
            calls.caughtUp(seq);
          },
          deliver: late?.deliver ?? told,
        })
          .catch((error: unknown) => lose(own, error))
          // Of no effect when the client has caught up.
          .finally(() => reject(new Error("The client no longer follows the session")));
      });
    },
    prompt: (request, wanted) => prompts.begin(request, () => command(wanted)),
    async cancel(requestId) {
      const own = prompts.cancelling(requestId);
      await cancelAll(own.length > 0 || requestId !== undefined ? own : [{ type: "cancel" }]);
    },
    async close() {
      await cancelAll(prompts.cancelling());
      await prompts.answered();
      feed?.abort();
      await cancelAll([{ type: "cancel", unlessWatched: true }]);
      await detach("client_closed");
    },
    async leave(reason) {
      feed?.abort();
      await detach(reason);
    },
  };
}

/** What is behind a cursor is live to whoever goes on from there, however long ago it was. */
function span(
  upTo: number,
  history: FollowOptions["history"],
  from: UpdateCursor | undefined,
): Pick<UpdateOptions, "upTo" | "history"> {
  if (from === undefined) return { upTo, history };
  return { upTo: from.seq === 0 ? upTo : from.seq, history: "shown" };
}
