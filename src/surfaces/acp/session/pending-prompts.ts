import type { CommandReply, SessionCommand } from "../../../domain/session-command.ts";
import { encodeFailure } from "../../../wire/acp/encode/encode-failure.ts";
import { createInternalError, type RpcError } from "../../../wire/jsonrpc/rpc-error.ts";
import type { RequestId, RpcOutcome, RpcRequest } from "../../../wire/jsonrpc/rpc-message.ts";
import type { ClientSender } from "../../../session/sessions.ts";
import type { ClientLink } from "../connection/client-link.ts";

/** A client's prompts in one session that have no answer yet. */
export interface PendingPrompts {
  /** Begins one; resolves when the session has taken or refused it, with what it said. */
  submit(request: RpcRequest, command: () => Promise<CommandReply>): Promise<CommandReply>;
  markStarted(promptId: string, turnId: string): void;
  finish(promptId: string, outcome: RpcOutcome): void;
  /** Nothing more will be heard of any, nor of those whose command is under way. */
  failAll(error: RpcError): void;
  /** What ends all of them, or the one that this request began. */
  listCancellations(requestId?: RequestId): readonly PromptCancellation[];
  /** Resolves when all of them have their answers, or there is nobody to answer. */
  waitUntilEmpty(): Promise<void>;
  /** The client is gone, and none is answered here. */
  clear(): void;
}

export interface PromptCancellation {
  readonly command: CancelCommand;
  /** As who asked for it: that one may end it, whatever the client may by its name of now. */
  readonly from: ClientSender;
}

interface PendingPrompt {
  readonly requests: RpcRequest[];
  readonly from: ClientSender;
  turnId: string | undefined;
}

type AcceptedReply = Extract<CommandReply, { status: "accepted" }>;
type CancelCommand = Extract<SessionCommand, { type: "cancel" | "withdraw-prompt" }>;

export function createPendingPrompts(link: ClientLink): PendingPrompts {
  /** One that is asked for twice has two requests that wait. */
  const pending = new Map<string, PendingPrompt>();
  /** Answers that came before the reply to the command said which prompt it was. */
  const earlyOutcomes = new Map<string, RpcOutcome>();
  /** What all were answered with last, when nothing more was to be heard of them. */
  let lastFailure: RpcOutcome | undefined;
  let unnamedCount = 0;
  let waiting: (() => void)[] = [];

  function wakeWaiting(): void {
    for (const wake of waiting) wake();
    waiting = [];
  }

  function finish(promptId: string, outcome: RpcOutcome): void {
    const prompt = pending.get(promptId);
    pending.delete(promptId);
    if (pending.size === 0) wakeWaiting();
    for (const request of prompt?.requests ?? []) link.respond(request, outcome);
    if (prompt === undefined && unnamedCount > 0) earlyOutcomes.set(promptId, outcome);
  }

  function accept(
    { request, from }: SentPrompt,
    { promptId, turnId }: AcceptedReply,
    failure: RpcOutcome | undefined,
  ): void {
    if (promptId === undefined) return link.respond(request, MISSING_PROMPT_ID);
    const outcome = earlyOutcomes.get(promptId) ?? failure;
    const existing = pending.get(promptId);
    if (outcome !== undefined) link.respond(request, outcome);
    else if (existing !== undefined) existing.requests.push(request);
    else pending.set(promptId, { requests: [request], from, turnId });
  }

  return {
    async submit(request, command) {
      unnamedCount += 1;
      const previousFailure = lastFailure;
      const { sender: from } = link;
      try {
        const reply = await command();
        const failure = lastFailure === previousFailure ? undefined : lastFailure;
        if (reply.status === "accepted") accept({ request, from }, reply, failure);
        else link.respond(request, { ok: false, error: encodeFailure(reply.failure) });
        return reply;
      } finally {
        unnamedCount -= 1;
        if (unnamedCount === 0) earlyOutcomes.clear();
      }
    },
    markStarted(promptId, turnId) {
      const prompt = pending.get(promptId);
      if (prompt !== undefined) prompt.turnId = turnId;
    },
    finish,
    failAll(error) {
      lastFailure = { ok: false, error };
      for (const promptId of pending.keys()) finish(promptId, lastFailure);
    },
    waitUntilEmpty: () =>
      pending.size === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push(resolve);
          }),
    listCancellations(requestId) {
      // Those that wait go first: the end of the one that runs would let the next one begin.
      return [...pending]
        .filter(
          ([, { requests }]) =>
            requestId === undefined || requests.some(({ id }) => id === requestId),
        )
        .toReversed()
        .map(([promptId, { turnId, from }]) => ({
          command:
            turnId === undefined
              ? { type: "withdraw-prompt", promptId }
              : { type: "cancel", turnId },
          from,
        }));
    },
    clear() {
      pending.clear();
      wakeWaiting();
    },
  };
}

interface SentPrompt {
  readonly request: RpcRequest;
  readonly from: ClientSender;
}

const MISSING_PROMPT_ID: RpcOutcome = {
  ok: false,
  error: createInternalError("The session took the prompt and gave it no id"),
};
