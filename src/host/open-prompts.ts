import { SpanlineError } from "../domain/errors.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import { webRandomHex } from "../platform/web-random.ts";
import { cancelNotification, promptRequest, textBlock } from "../wire/acp/client/agent-requests.ts";
import { readPromptResult } from "../wire/acp/client/agent-results.ts";
import type { SeenUpdate } from "../wire/acp/client/seen-update.ts";
import type { RequestControl } from "./connection.ts";
import { isCode } from "./is-code.ts";
import type { Link } from "./link.ts";
import { openPrompt, type OpenPrompt, type PromptRun } from "./prompt-run.ts";

/** Prompts that have no answer yet. In one session the first of them is told what is said. */
export interface OpenPrompts {
  begin(sessionId: string, content: string | readonly JsonObject[]): PromptRun;
  told(sessionId: string, update: SeenUpdate): void;
}

export function openPrompts(link: Link): OpenPrompts {
  const open = new Map<string, readonly OpenPrompt[]>();

  function close(sessionId: string, prompt: OpenPrompt): void {
    const others = (open.get(sessionId) ?? []).filter((one) => one !== prompt);
    if (others.length === 0) open.delete(sessionId);
    else open.set(sessionId, others);
  }

  /** An agent that knows a prompt again by its id is asked again for its answer, on the next connection. */
  async function send(
    prompt: OpenPrompt,
    { sessionId, blocks }: { readonly sessionId: string; readonly blocks: readonly JsonObject[] },
    control: RequestControl,
  ): Promise<void> {
    const promptId = webRandomHex(16);
    for (;;) {
      const { connection, agent } = await link.current(control.signal);
      const id = agent.repeatsPrompts ? { promptId } : {};
      try {
        // From here on it may have been heard.
        const answer = await connection.request(promptRequest(sessionId, blocks, id), control);
        return settle(prompt, answer);
      } catch (error) {
        if (!agent.repeatsPrompts || !isCode(error, "connection_lost")) throw error;
      }
    }
  }

  return {
    begin(sessionId, content) {
      const blocks = typeof content === "string" ? [textBlock(content)] : content;
      const unwanted = new AbortController();
      const prompt = openPrompt(() => {
        const prompts = open.get(sessionId) ?? [];
        if (!prompts.includes(prompt)) return;
        const { now } = link;
        // Agents of ACP alone know no other way to end one prompt than to end what the session does.
        if (now !== undefined && prompts.length === 1) {
          now.notify(cancelNotification(sessionId));
          now.putAway(sessionId);
        } else unwanted.abort(new SpanlineError("aborted", "The prompt was cancelled"));
      });
      open.set(sessionId, [...(open.get(sessionId) ?? []), prompt]);
      const answered = (): void => close(sessionId, prompt);
      const control = { signal: unwanted.signal, stillWaits: true, answered };
      send(prompt, { sessionId, blocks }, control)
        .catch((error: unknown) => prompt.fail(isCode(error, "connection_lost") ? lost() : error))
        .finally(answered);
      return prompt.run;
    },
    told(sessionId, update) {
      open.get(sessionId)?.[0]?.told(update);
    },
  };
}

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
