import { createItemQueue } from "../../async/item-queue.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { toJsonText } from "../../data/json.ts";
import type { PromptResult } from "../../wire/acp/client/agent-results.ts";
import type { SessionUpdate } from "../../wire/acp/client/session-update.ts";

/** A submitted prompt: the session's updates until the response, and the result. */
export interface PromptRun extends AsyncIterable<SessionUpdate> {
  /**
   * The result of the turn. Rejects with the agent's error, or with `connection_lost` if the response was lost. A lost
   * prompt is not sent again; the session's updates show its outcome.
   */
  readonly result: Promise<PromptResult>;
  /** Cancels the prompt. `result` then resolves as cancelled. A prompt not sent yet is never sent. */
  cancel(): void;
}

/** The sending side of a `PromptRun`. */
export interface OpenPrompt {
  readonly run: PromptRun;
  pushUpdate(update: SessionUpdate): void;
  finish(result: PromptResult): void;
  fail(error: unknown): void;
}

export function createOpenPrompt(cancel: () => void): OpenPrompt {
  let unread = 0;
  let finish: OpenPrompt["finish"] = () => {};
  let reject: OpenPrompt["fail"] = () => {};
  const result = new Promise<PromptResult>((resolve, refuse) => {
    finish = resolve;
    reject = refuse;
  });
  // Callers that only iterate over the updates receive the error there.
  result.catch(() => {});
  const updates = createItemQueue<SessionUpdate>();

  async function* read(): AsyncGenerator<SessionUpdate, void, undefined> {
    for await (const update of updates) {
      unread -= measureUpdate(update);
      yield update;
    }
  }

  return {
    run: { result, cancel, [Symbol.asyncIterator]: read },
    pushUpdate(update) {
      unread += measureUpdate(update);
      if (unread <= MAX_UNREAD_CHARACTERS) updates.push(update);
      // The updates are not read, or too slowly. The result still arrives.
      else updates.end(new SpanlineError("turn_too_large", UNREAD_MESSAGE));
    },
    finish(answer) {
      updates.end();
      finish(answer);
    },
    fail(error) {
      updates.end(error);
      reject(error);
    },
  };
}

/** Size of an update in characters. */
function measureUpdate(update: SessionUpdate): number {
  return "text" in update ? update.text.length : toJsonText(update).length;
}

/** Characters. If more are unread, the iteration ends with `turn_too_large`. */
const MAX_UNREAD_CHARACTERS = 64 * 1024 * 1024;
const UNREAD_MESSAGE =
  "Too many updates of the agent are unread. Fix: read the updates as they arrive, or use onUpdate";
