import { SpanlineError } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";
import { webRandomHex } from "../platform/web-random.ts";
import { cancelNotification, promptRequest } from "../wire/acp/client/agent-requests.ts";
import { readPromptResult, type PromptResult } from "../wire/acp/client/agent-results.ts";
import type { PromptBlock } from "../wire/acp/client/prompt-block.ts";
import type { SeenUpdate } from "../wire/acp/client/seen-update.ts";
import { isCode } from "./is-code.ts";
import type { Greeted, Link } from "./link.ts";
import { openPrompt, type OpenPrompt, type PromptRun } from "./prompt-run.ts";

/** Prompts that have no answer yet. In one session the first of them is told what is said. */
export interface OpenPrompts {
  begin(sessionId: string, content: string | readonly PromptBlock[]): PromptRun;
  /**
   * None of a session is wanted any more. Those that were not sent are not; those that wait for the next connection are ended
   * there. True where that was so, and the agent need not be told by anybody else.
   */
  cancel(sessionId: string): boolean;
  told(sessionId: string, update: SeenUpdate): void;
}

interface Sending {
  readonly sessionId: string;
  readonly blocks: readonly PromptBlock[];
  readonly prompt: OpenPrompt;
  /** Aborted when it is not wanted, and was not sent. */
  readonly unsent: AbortController;
  isSent: boolean;
  isCancelled: boolean;
  /** Tells the agent to end it, on the connection by which it was sent; undefined while there is none. */
  end: (() => void) | undefined;
}

export function openPrompts(link: Link): OpenPrompts {
  const open = new Map<string, readonly Sending[]>();

  function close(own: Sending): void {
    const others = othersThan(own);
    if (others.length === 0) open.delete(own.sessionId);
    else open.set(own.sessionId, others);
  }

  function othersThan(own: Sending): readonly Sending[] {
    return (open.get(own.sessionId) ?? []).filter((one) => one !== own);
  }

  /** An agent that knows a prompt again by its id is asked again for its answer, on the next connection. */
  async function send(own: Sending): Promise<void> {
    const promptId = webRandomHex(16);
    for (;;) {
      const found = await (own.isSent ? link.current() : link.current(own.unsent.signal));
      own.unsent.signal.throwIfAborted();
      const { repeatsPrompts } = found.agent;
      if (own.isSent && !repeatsPrompts) throw lost();
      try {
        return settle(own.prompt, await sent(own, found, repeatsPrompts ? { promptId } : {}));
      } catch (error) {
        if (!repeatsPrompts || !isCode(error, "connection_lost")) throw error;
      } finally {
        own.end = undefined;
      }
    }
  }

  /** From here on it may have been heard. */
  function sent(
    own: Sending,
    { connection }: Pick<Greeted, "connection">,
    id: { readonly promptId?: string },
  ): Promise<JsonValue> {
    const { sessionId, blocks } = own;
    const unwanted = new AbortController();
    own.isSent = true;
    own.end = () => {
      // Agents of ACP alone know no other way to end one prompt than to end what the session does.
      if (othersThan(own).some(({ isSent }) => isSent)) return unwanted.abort();
      connection.notify(cancelNotification(sessionId));
      connection.putAway(sessionId);
    };
    const control = { signal: unwanted.signal, stillWaits: true, answered: () => close(own) };
    const answer = connection.request(promptRequest(sessionId, blocks, id), control);
    // This one alone: its turn may be over by now, and that of somebody else under way.
    if (own.isCancelled) unwanted.abort();
    return answer;
  }

  function cancel(own: Sending): void {
    if (!(open.get(own.sessionId) ?? []).includes(own)) return;
    own.isCancelled = true;
    if (own.isSent) own.end?.();
    else own.unsent.abort();
  }

  function failed(own: Sending, error: unknown): void {
    if (own.unsent.signal.aborted) own.prompt.finish(NOT_SENT);
    else own.prompt.fail(isCode(error, "connection_lost") ? lost() : error);
  }

  return {
    begin(sessionId, content) {
      const own: Sending = {
        sessionId,
        blocks: typeof content === "string" ? [{ type: "text", text: content }] : content,
        prompt: openPrompt(() => cancel(own)),
        unsent: new AbortController(),
        isSent: false,
        isCancelled: false,
        end: undefined,
      };
      open.set(sessionId, [...(open.get(sessionId) ?? []), own]);
      send(own)
        .catch((error: unknown) => failed(own, error))
        .finally(() => close(own));
      return own.prompt.run;
    },
    cancel(sessionId) {
      const prompts = open.get(sessionId) ?? [];
      for (const own of prompts) {
        own.isCancelled = true;
        if (!own.isSent) own.unsent.abort();
      }
      return prompts.some(({ isSent, end }) => isSent && end === undefined);
    },
    told(sessionId, update) {
      open.get(sessionId)?.[0]?.prompt.told(update);
    },
  };
}

const NOT_SENT: PromptResult = { reason: "cancelled", usage: null };

function settle(prompt: OpenPrompt, answer: JsonValue): void {
  const result = readPromptResult(answer);
  if (result.ok) prompt.finish(result.value);
  else prompt.fail(new SpanlineError("unexpected_answer", `${UNREADABLE}: ${result.problem}`));
}

function lost(): SpanlineError {
  return new SpanlineError("connection_lost", LOST, { details: { method: "session/prompt" } });
}

const LOST =
  "The connection was lost before the prompt was answered. It was not sent again: the agent may have heard it, and what comes of it is told by the session's updates";
const UNREADABLE = "The agent's answer to the prompt cannot be read";
