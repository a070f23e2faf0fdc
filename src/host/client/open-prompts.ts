import { SpanlineError } from "../../domain/errors.ts";
import type { JsonValue } from "../../data/json.ts";
import { webRandomHex } from "../../platform/web-random.ts";
import {
  encodeCancelNotification,
  encodePromptRequest,
} from "../../wire/acp/client/agent-requests.ts";
import { readPromptResult, type PromptResult } from "../../wire/acp/client/agent-results.ts";
import type { PromptBlock } from "../../wire/acp/client/prompt-block.ts";
import type { SessionUpdate } from "../../wire/acp/client/session-update.ts";
import { hasErrorCode } from "../connection/error-code.ts";
import type {
  InitializedConnection,
  ReconnectingConnection,
} from "../connection/reconnecting-connection.ts";
import { createOpenPrompt, type OpenPrompt, type PromptRun } from "./prompt-run.ts";

/** Prompts that have no answer yet. In one session the first of them is told what is said. */
export interface OpenPrompts {
  submit(sessionId: string, content: string | readonly PromptBlock[]): PromptRun;
  /**
   * None of a session is wanted any more. Those that were not sent are not; those that wait for the next connection are ended
   * there. True where that was so, and the agent need not be told by anybody else.
   */
  cancel(sessionId: string): boolean;
  handleUpdate(sessionId: string, update: SessionUpdate): void;
}

interface SentPrompt {
  readonly sessionId: string;
  readonly blocks: readonly PromptBlock[];
  readonly prompt: OpenPrompt;
  /** Aborted when it is not wanted, and was not sent. */
  readonly sendController: AbortController;
  isSent: boolean;
  isCancelled: boolean;
  /** Tells the agent to end it, on the connection by which it was sent; undefined while there is none. */
  stop: (() => void) | undefined;
}

export function createOpenPrompts(link: ReconnectingConnection): OpenPrompts {
  const open = new Map<string, readonly SentPrompt[]>();

  function close(sentPrompt: SentPrompt): void {
    const others = listOthers(sentPrompt);
    if (others.length === 0) open.delete(sentPrompt.sessionId);
    else open.set(sentPrompt.sessionId, others);
  }

  function listOthers(sentPrompt: SentPrompt): readonly SentPrompt[] {
    return (open.get(sentPrompt.sessionId) ?? []).filter((candidate) => candidate !== sentPrompt);
  }

  /** An agent that knows a prompt again by its id is asked again for its answer, on the next connection. */
  async function send(sentPrompt: SentPrompt): Promise<void> {
    const promptId = webRandomHex(16);
    for (;;) {
      const initialized = await (sentPrompt.isSent
        ? link.getConnection()
        : link.getConnection(sentPrompt.sendController.signal));
      sentPrompt.sendController.signal.throwIfAborted();
      const { repeatsPrompts } = initialized.agent;
      if (sentPrompt.isSent && !repeatsPrompts) throw createLostError();
      try {
        return settlePrompt(
          sentPrompt.prompt,
          await requestPrompt(sentPrompt, initialized, repeatsPrompts ? { promptId } : {}),
        );
      } catch (error) {
        if (!repeatsPrompts || !hasErrorCode(error, "connection_lost")) throw error;
      } finally {
        sentPrompt.stop = undefined;
      }
    }
  }

  /** From here on it may have been heard. */
  function requestPrompt(
    sentPrompt: SentPrompt,
    { connection }: Pick<InitializedConnection, "connection">,
    id: { readonly promptId?: string },
  ): Promise<JsonValue> {
    const { sessionId, blocks } = sentPrompt;
    const cancelController = new AbortController();
    sentPrompt.isSent = true;
    sentPrompt.stop = () => {
      // Agents of ACP alone know no other way to end one prompt than to end what the session does.
      if (listOthers(sentPrompt).some(({ isSent }) => isSent)) return cancelController.abort();
      connection.notify(encodeCancelNotification(sessionId));
      connection.cancelPermissions(sessionId);
    };
    const control = {
      signal: cancelController.signal,
      stillWaits: true,
      onResponse: () => close(sentPrompt),
    };
    const answer = connection.request(encodePromptRequest(sessionId, blocks, id), control);
    // This one alone: its turn may be over by now, and that of somebody else under way.
    if (sentPrompt.isCancelled) cancelController.abort();
    return answer;
  }

  function cancel(sentPrompt: SentPrompt): void {
    if (!(open.get(sentPrompt.sessionId) ?? []).includes(sentPrompt)) return;
    sentPrompt.isCancelled = true;
    if (sentPrompt.isSent) sentPrompt.stop?.();
    else sentPrompt.sendController.abort();
  }

  function handleFailure(sentPrompt: SentPrompt, error: unknown): void {
    if (sentPrompt.sendController.signal.aborted) sentPrompt.prompt.finish(NOT_SENT);
    else sentPrompt.prompt.fail(hasErrorCode(error, "connection_lost") ? createLostError() : error);
  }

  return {
    submit(sessionId, content) {
      const sentPrompt: SentPrompt = {
        sessionId,
        blocks: typeof content === "string" ? [{ type: "text", text: content }] : content,
        prompt: createOpenPrompt(() => cancel(sentPrompt)),
        sendController: new AbortController(),
        isSent: false,
        isCancelled: false,
        stop: undefined,
      };
      open.set(sessionId, [...(open.get(sessionId) ?? []), sentPrompt]);
      send(sentPrompt)
        .catch((error: unknown) => handleFailure(sentPrompt, error))
        .finally(() => close(sentPrompt));
      return sentPrompt.prompt.run;
    },
    cancel(sessionId) {
      const prompts = open.get(sessionId) ?? [];
      for (const sentPrompt of prompts) {
        sentPrompt.isCancelled = true;
        if (!sentPrompt.isSent) sentPrompt.sendController.abort();
      }
      return prompts.some(({ isSent, stop }) => isSent && stop === undefined);
    },
    handleUpdate(sessionId, update) {
      open.get(sessionId)?.[0]?.prompt.pushUpdate(update);
    },
  };
}

const NOT_SENT: PromptResult = { reason: "cancelled", usage: null };

function settlePrompt(prompt: OpenPrompt, answer: JsonValue): void {
  const result = readPromptResult(answer);
  if (result.ok) prompt.finish(result.value);
  else
    prompt.fail(new SpanlineError("unexpected_answer", `${UNREADABLE_RESULT}: ${result.problem}`));
}

function createLostError(): SpanlineError {
  return new SpanlineError("connection_lost", PROMPT_LOST, {
    details: { method: "session/prompt" },
  });
}

const PROMPT_LOST =
  "The connection was lost before the prompt was answered. It was not sent again: the agent may have heard it, and what comes of it is told by the session's updates";
const UNREADABLE_RESULT = "The agent's answer to the prompt cannot be read";
