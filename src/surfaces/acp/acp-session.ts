import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import type { PromptCommand } from "../../wire/acp/client-request.ts";
import type { AcpOutput, UpdateOptions } from "../../wire/acp/update-state.ts";
import { internalError } from "../../wire/jsonrpc/rpc-error.ts";
import type { RpcRequest } from "../../wire/jsonrpc/rpc-message.ts";
import { attachClient } from "./attach-client.ts";
import type { ClientLink } from "./client-link.ts";
import { followSession } from "./follow-session.ts";
import { openPrompts } from "./open-prompts.ts";
import { openQuestions, type OpenQuestions } from "./open-questions.ts";
import { turnOfPrompt } from "./turn-of-prompt.ts";

/** A session on one client's connection. */
export interface AcpSession {
  readonly isFollowed: boolean;
  readonly answered: OpenQuestions["answered"];
  attach(): Promise<CommandReply>;
  /** Tells the client everything; resolves when it has what was there before. Called again, it begins again. */
  follow(options: FollowOptions): Promise<void>;
  prompt(request: RpcRequest, command: PromptCommand): Promise<void>;
  cancel(): Promise<void>;
  /** The client goes; the session and what it waits for stay. */
  leave(reason: string): Promise<void>;
}

export interface FollowOptions extends Pick<UpdateOptions, "upTo" | "history"> {
  /** Called between the last word of before and the first live one. */
  readonly caughtUp?: () => void;
}

export function createAcpSession(sessionId: string, link: ClientLink): AcpSession {
  const { sender, log } = link;
  const { clientId } = sender;
  const prompts = openPrompts(link);
  const questions = openQuestions(sessionId, link);
  let feed: AbortController | undefined;
  let isAttached = false;

  const command = (wanted: SessionCommand): Promise<CommandReply> =>
    link.sessions.command(sessionId, wanted, sender);

  function deliver(output: AcpOutput, caughtUp: () => void): void {
    switch (output.type) {
      case "update":
        return link.update(sessionId, output.update);
      case "event":
        return link.event(sessionId, output.update);
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
    follow({ upTo, history, caughtUp }) {
      feed?.abort();
      const own = new AbortController();
      feed = own;
      const encoding = { sessionId, clientId, upTo, history, profile: () => link.profile() };
      return new Promise((resolve, reject) => {
        const caught = (): void => {
          caughtUp?.();
          resolve();
        };
        const told = (output: AcpOutput): void => deliver(output, caught);
        followSession({ link, encoding, signal: own.signal, deliver: told })
          .catch((error: unknown) => lose(own, error))
          // Of no effect when the client has caught up.
          .finally(() => reject(new Error("The client no longer follows the session")));
      });
    },
    prompt: (request, wanted) => prompts.begin(request, () => command(wanted)),
    async cancel() {
      for (const wanted of prompts.cancelling()) {
        let reply = await command(wanted);
        if (wanted.type === "withdraw" && reply.status === "refused") {
          reply = await cancelTurnOf(wanted.promptId);
        }
        if (reply.status === "accepted") continue;
        log("a cancel was refused", { sessionId, code: reply.failure.code });
      }
    },
    async leave(reason) {
      feed?.abort();
      if (!isAttached) return;
      try {
        await command({ type: "detach", clientId, reason });
      } catch (error) {
        log("a client could not be detached", { sessionId, error: String(error) });
      }
    },
  };
}
