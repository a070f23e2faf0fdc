import { SpanlineError } from "../../domain/errors.ts";
import type { JsonValue } from "../../data/json.ts";
import { randomWebHex } from "../../platform/web-random.ts";
import {
  encodeCancelNotification,
  encodePromptRequest,
} from "../../wire/acp/client/agent-requests.ts";
import { readPromptResult, type PromptResult } from "../../wire/acp/client/agent-results.ts";
import type { PromptBlock } from "../../wire/acp/client/prompt-block.ts";
import type { PromptSettings } from "./client.ts";
import type { SessionUpdate } from "../../wire/acp/client/session-update.ts";
import { hasErrorCode } from "../connection/error-code.ts";
import type {
  InitializedConnection,
  ReconnectingConnection,
} from "../connection/reconnecting-connection.ts";
import { createOpenPrompt, type OpenPrompt, type PromptRun } from "./prompt-run.ts";

/** The prompts without a response. Updates of a session go to its first open prompt. */
export interface OpenPrompts {
  submit(
    sessionId: string,
    content: string | readonly PromptBlock[],
    settings?: PromptSettings,
  ): PromptRun;
  /**
   * Cancels all prompts of a session. Prompts not sent yet are dropped; prompts waiting for a reconnect are cancelled
   * on the next connection. Returns true if such prompts exist: the agent then needs no `session/cancel` notification.
   */
  cancel(sessionId: string): boolean;
  handleUpdate(sessionId: string, update: SessionUpdate): void;
}

interface SentPrompt {
  readonly sessionId: string;
  readonly blocks: readonly PromptBlock[];
  readonly settings: PromptSettings;
  readonly prompt: OpenPrompt;
  /** Aborted if the prompt is cancelled before being sent. */
  readonly sendController: AbortController;
  isSent: boolean;
  isCancelled: boolean;
  /** Tells the agent to cancel the prompt, on the connection it was sent on. Undefined while disconnected. */
  stop: (() => void) | undefined;
}

export function createOpenPrompts(link: ReconnectingConnection): OpenPrompts {
  return new PromptTable(link);
}

class PromptTable implements OpenPrompts {
  readonly #link: ReconnectingConnection;
  readonly #open = new Map<string, readonly SentPrompt[]>();

  constructor(link: ReconnectingConnection) {
    this.#link = link;
  }

  submit(
    sessionId: string,
    content: string | readonly PromptBlock[],
    settings: PromptSettings = {},
  ): PromptRun {
    const sentPrompt: SentPrompt = {
      sessionId,
      settings,
      blocks: typeof content === "string" ? [{ type: "text", text: content }] : content,
      prompt: createOpenPrompt(() => this.#cancelPrompt(sentPrompt)),
      sendController: new AbortController(),
      isSent: false,
      isCancelled: false,
      stop: undefined,
    };
    this.#open.set(sessionId, [...(this.#open.get(sessionId) ?? []), sentPrompt]);
    this.#send(sentPrompt)
      .catch((error: unknown) => handleFailure(sentPrompt, error))
      .finally(() => this.#close(sentPrompt));
    return sentPrompt.prompt.run;
  }

  cancel(sessionId: string): boolean {
    const prompts = this.#open.get(sessionId) ?? [];
    for (const sentPrompt of prompts) {
      sentPrompt.isCancelled = true;
      if (!sentPrompt.isSent) sentPrompt.sendController.abort();
    }
    return prompts.some(({ isSent, stop }) => isSent && stop === undefined);
  }

  handleUpdate(sessionId: string, update: SessionUpdate): void {
    this.#open.get(sessionId)?.[0]?.prompt.pushUpdate(update);
  }

  #close(sentPrompt: SentPrompt): void {
    const others = this.#listOthers(sentPrompt);
    if (others.length === 0) this.#open.delete(sentPrompt.sessionId);
    else this.#open.set(sentPrompt.sessionId, others);
  }

  #listOthers(sentPrompt: SentPrompt): readonly SentPrompt[] {
    return (this.#open.get(sentPrompt.sessionId) ?? []).filter(
      (candidate) => candidate !== sentPrompt,
    );
  }

  /**
   * Sends a prompt. After a reconnect, sends the prompt again with the same id if the agent recognizes repeated
   * prompts.
   */
  async #send(sentPrompt: SentPrompt): Promise<void> {
    const promptId = randomWebHex(16);
    for (;;) {
      const initialized = await (sentPrompt.isSent
        ? this.#link.getConnection()
        : this.#link.getConnection(sentPrompt.sendController.signal));
      sentPrompt.sendController.signal.throwIfAborted();
      const { repeatsPrompts } = initialized.agent;
      if (sentPrompt.isSent && !repeatsPrompts) throw createLostError();
      try {
        return settlePrompt(
          sentPrompt.prompt,
          await this.#requestPrompt(sentPrompt, initialized, repeatsPrompts ? { promptId } : {}),
        );
      } catch (error) {
        if (!repeatsPrompts || !hasErrorCode(error, "connection_lost")) throw error;
      } finally {
        sentPrompt.stop = undefined;
      }
    }
  }

  /** Sends the request. From here on the agent may have received the prompt. */
  #requestPrompt(
    sentPrompt: SentPrompt,
    { connection }: Pick<InitializedConnection, "connection">,
    id: { readonly promptId?: string },
  ): Promise<JsonValue> {
    const { sessionId, blocks, settings } = sentPrompt;
    const cancelController = new AbortController();
    sentPrompt.isSent = true;
    sentPrompt.stop = () => {
      // Plain ACP agents can only cancel the whole session, so a single prompt is cancelled by `session/cancel`.
      if (this.#listOthers(sentPrompt).some(({ isSent }) => isSent))
        return cancelController.abort();
      connection.notify(encodeCancelNotification(sessionId));
      connection.cancelPermissions(sessionId);
    };
    const control = {
      signal: cancelController.signal,
      stillWaits: true,
      onResponse: () => this.#close(sentPrompt),
    };
    const request = encodePromptRequest(sessionId, blocks, { ...settings, ...id });
    const answer = connection.request(request, control);
    // Cancels this request only: its turn may be over, and another client's turn may run.
    if (sentPrompt.isCancelled) cancelController.abort();
    return answer;
  }

  #cancelPrompt(sentPrompt: SentPrompt): void {
    if (!(this.#open.get(sentPrompt.sessionId) ?? []).includes(sentPrompt)) return;
    sentPrompt.isCancelled = true;
    if (sentPrompt.isSent) sentPrompt.stop?.();
    else sentPrompt.sendController.abort();
  }
}

const NOT_SENT: PromptResult = { reason: "cancelled", usage: null };

function handleFailure(sentPrompt: SentPrompt, error: unknown): void {
  if (sentPrompt.sendController.signal.aborted) sentPrompt.prompt.finish(NOT_SENT);
  else sentPrompt.prompt.fail(hasErrorCode(error, "connection_lost") ? createLostError() : error);
}

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
  "The connection was lost before the response to the prompt. The prompt was not sent again, because the agent may have received it. The updates of the session show its outcome";
const UNREADABLE_RESULT = "The agent's response to the prompt is not valid";
