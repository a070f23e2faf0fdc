import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import { failureError } from "../../wire/acp/failure-error.ts";
import { internalError, type RpcError } from "../../wire/jsonrpc/rpc-error.ts";
import type { RequestId, RpcOutcome, RpcRequest } from "../../wire/jsonrpc/rpc-message.ts";
import type { ClientSender } from "../../session/sessions.ts";
import type { ClientLink } from "./client-link.ts";

/** A client's prompts in one session that have no answer yet. */
export interface OpenPrompts {
  /** Begins one; resolves when the session has taken or refused it, with what it said. */
  begin(request: RpcRequest, command: () => Promise<CommandReply>): Promise<CommandReply>;
  begun(promptId: string, turnId: string): void;
  finish(promptId: string, outcome: RpcOutcome): void;
  /** Nothing more will be heard of any, nor of those whose command is under way. */
  fail(error: RpcError): void;
  /** What ends all of them, or the one that this request began. */
  cancelling(requestId?: RequestId): readonly Cancelling[];
  /** Resolves when all of them have their answers, or there is nobody to answer. */
  answered(): Promise<void>;
  /** The client is gone, and none is answered here. */
  drop(): void;
}

export interface Cancelling {
  readonly command: CancelCommand;
  /** As who asked for it: that one may end it, whatever the client may by its name of now. */
  readonly from: ClientSender;
}

interface OpenPrompt {
  readonly requests: RpcRequest[];
  readonly from: ClientSender;
  turnId: string | undefined;
}

type AcceptedReply = Extract<CommandReply, { status: "accepted" }>;
type CancelCommand = Extract<SessionCommand, { type: "cancel" | "withdraw" }>;

export function openPrompts(link: ClientLink): OpenPrompts {
  /** One that is asked for twice has two requests that wait. */
  const open = new Map<string, OpenPrompt>();
  /** Answers that came before the reply to the command said which prompt it was. */
  const early = new Map<string, RpcOutcome>();
  /** What all were answered with last, when nothing more was to be heard of them. */
  let failed: RpcOutcome | undefined;
  let unnamed = 0;
  let waiting: (() => void)[] = [];

  function wakeWaiting(): void {
    for (const wake of waiting) wake();
    waiting = [];
  }

  function finish(promptId: string, outcome: RpcOutcome): void {
    const prompt = open.get(promptId);
    open.delete(promptId);
    if (open.size === 0) wakeWaiting();
    for (const request of prompt?.requests ?? []) link.answer(request, outcome);
    if (prompt === undefined && unnamed > 0) early.set(promptId, outcome);
  }

  function accept(
    { request, from }: Begun,
    { promptId, turnId }: AcceptedReply,
    failure: RpcOutcome | undefined,
  ): void {
    if (promptId === undefined) return link.answer(request, NAMELESS);
    const outcome = early.get(promptId) ?? failure;
    const known = open.get(promptId);
    if (outcome !== undefined) link.answer(request, outcome);
    else if (known !== undefined) known.requests.push(request);
    else open.set(promptId, { requests: [request], from, turnId });
  }

  return {
    async begin(request, command) {
      unnamed += 1;
      const before = failed;
      const { sender: from } = link;
      try {
        const reply = await command();
        const failure = failed === before ? undefined : failed;
        if (reply.status === "accepted") accept({ request, from }, reply, failure);
        else link.answer(request, { ok: false, error: failureError(reply.failure) });
        return reply;
      } finally {
        unnamed -= 1;
        if (unnamed === 0) early.clear();
      }
    },
    begun(promptId, turnId) {
      const prompt = open.get(promptId);
      if (prompt !== undefined) prompt.turnId = turnId;
    },
    finish,
    fail(error) {
      failed = { ok: false, error };
      for (const promptId of open.keys()) finish(promptId, failed);
    },
    answered: () =>
      open.size === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push(resolve);
          }),
    cancelling(requestId) {
      // Those that wait go first: the end of the one that runs would let the next one begin.
      return [...open]
        .filter(
          ([, { requests }]) =>
            requestId === undefined || requests.some(({ id }) => id === requestId),
        )
        .toReversed()
        .map(([promptId, { turnId, from }]) => ({
          command:
            turnId === undefined ? { type: "withdraw", promptId } : { type: "cancel", turnId },
          from,
        }));
    },
    drop() {
      open.clear();
      wakeWaiting();
    },
  };
}

interface Begun {
  readonly request: RpcRequest;
  readonly from: ClientSender;
}

const NAMELESS: RpcOutcome = {
  ok: false,
  error: internalError("The session took the prompt and gave it no id"),
};
