import type { CommandReply, SessionCommand } from "../../../domain/session-command.ts";
import { encodeFailure } from "../../../wire/acp/encode/encode-failure.ts";
import { createInternalError, type RpcError } from "../../../wire/jsonrpc/rpc-error.ts";
import type { RequestId, RpcOutcome, RpcRequest } from "../../../wire/jsonrpc/rpc-message.ts";
import type { ClientSender } from "../../../session/sessions.ts";
import type { ClientLink } from "../connection/client-link.ts";

/** A client's prompts in a session without a response. */
export interface PendingPrompts {
  /** Submits a prompt and resolves with the session's reply. The response to the request follows when the turn ends. */
  submit(request: RpcRequest, command: () => Promise<CommandReply>): Promise<CommandReply>;
  markStarted(promptId: string, turnId: string): void;
  finish(promptId: string, outcome: RpcOutcome): void;
  /** Responds to all prompts with an error, including prompts whose command is still in progress. */
  failAll(error: RpcError): void;
  /** The commands to cancel all prompts, or only the prompt of this request. */
  listCancellations(requestId?: RequestId): readonly PromptCancellation[];
  /** Resolves when every prompt has its response, or when the client is gone. */
  waitUntilEmpty(): Promise<void>;
  /** Removes all prompts without a response, because the client is gone. */
  clear(): void;
}

export interface PromptCancellation {
  readonly command: CancelCommand;
  /** The sender of the prompt, allowed to cancel it. The client may have been renamed since. */
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
  /** By prompt id. A prompt submitted twice has two waiting requests. */
  const pending = new Map<string, PendingPrompt>();
  /** Outcomes that arrived before the command's reply with the prompt id. */
  const earlyOutcomes = new Map<string, RpcOutcome>();
  /** The error of the last `failAll`, also used for commands in progress at that time. */
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
      // Queued prompts first: the end of the running prompt would start the next prompt.
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
  error: createInternalError("The session accepted the prompt without returning a prompt id"),
};
