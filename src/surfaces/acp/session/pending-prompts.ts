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
  return new PromptRequests(link);
}

class PromptRequests implements PendingPrompts {
  readonly #link: ClientLink;
  /** By prompt id. A prompt submitted twice has two waiting requests. */
  readonly #pending = new Map<string, PendingPrompt>();
  /** Outcomes that arrived before the command's reply with the prompt id. */
  readonly #earlyOutcomes = new Map<string, RpcOutcome>();
  /** The error of the last `failAll`, also used for commands in progress at that time. */
  #lastFailure: RpcOutcome | undefined;
  /** Number of commands in progress, whose prompt ids are not known yet. */
  #unnamedCount = 0;
  #waiting: (() => void)[] = [];

  constructor(link: ClientLink) {
    this.#link = link;
  }

  async submit(request: RpcRequest, command: () => Promise<CommandReply>): Promise<CommandReply> {
    this.#unnamedCount += 1;
    const previousFailure = this.#lastFailure;
    const { sender: from } = this.#link;
    try {
      const reply = await command();
      const failure = this.#lastFailure === previousFailure ? undefined : this.#lastFailure;
      if (reply.status === "accepted") this.#accept({ request, from }, reply, failure);
      else this.#link.respond(request, { ok: false, error: encodeFailure(reply.failure) });
      return reply;
    } finally {
      this.#unnamedCount -= 1;
      if (this.#unnamedCount === 0) this.#earlyOutcomes.clear();
    }
  }

  markStarted(promptId: string, turnId: string): void {
    const prompt = this.#pending.get(promptId);
    if (prompt !== undefined) prompt.turnId = turnId;
  }

  finish(promptId: string, outcome: RpcOutcome): void {
    const prompt = this.#pending.get(promptId);
    this.#pending.delete(promptId);
    if (this.#pending.size === 0) this.#wakeWaiting();
    for (const request of prompt?.requests ?? []) this.#link.respond(request, outcome);
    if (prompt === undefined && this.#unnamedCount > 0) this.#earlyOutcomes.set(promptId, outcome);
  }

  failAll(error: RpcError): void {
    const failure: RpcOutcome = { ok: false, error };
    this.#lastFailure = failure;
    for (const promptId of this.#pending.keys()) this.finish(promptId, failure);
  }

  listCancellations(requestId?: RequestId): readonly PromptCancellation[] {
    // Queued prompts first: the end of the running prompt would start the next prompt.
    return [...this.#pending]
      .filter(
        ([, { requests }]) =>
          requestId === undefined || requests.some(({ id }) => id === requestId),
      )
      .toReversed()
      .map(([promptId, { turnId, from }]) => ({
        command:
          turnId === undefined ? { type: "withdraw-prompt", promptId } : { type: "cancel", turnId },
        from,
      }));
  }

  waitUntilEmpty(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  clear(): void {
    this.#pending.clear();
    this.#wakeWaiting();
  }

  #accept(
    { request, from }: SentPrompt,
    { promptId, turnId }: AcceptedReply,
    failure: RpcOutcome | undefined,
  ): void {
    if (promptId === undefined) return this.#link.respond(request, MISSING_PROMPT_ID);
    const outcome = this.#earlyOutcomes.get(promptId) ?? failure;
    const existing = this.#pending.get(promptId);
    if (outcome !== undefined) this.#link.respond(request, outcome);
    else if (existing !== undefined) existing.requests.push(request);
    else this.#pending.set(promptId, { requests: [request], from, turnId });
  }

  #wakeWaiting(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting = [];
  }
}

interface SentPrompt {
  readonly request: RpcRequest;
  readonly from: ClientSender;
}

const MISSING_PROMPT_ID: RpcOutcome = {
  ok: false,
  error: createInternalError("The session accepted the prompt without returning a prompt id"),
};
