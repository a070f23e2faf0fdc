import { createItemQueue } from "../../async/item-queue.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { toJsonText } from "../../data/json.ts";
import type { PromptResult } from "../../wire/acp/client/agent-results.ts";
import type { SessionUpdate } from "../../wire/acp/client/session-update.ts";

/** A prompt on its way: what the session says until it is answered, and the answer. */
export interface PromptRun extends AsyncIterable<SessionUpdate> {
  /**
   * How the turn ended. Rejects with the agent's error; or with `connection_lost` when the answer was lost: the prompt is not
   * sent again, and what comes of it is seen in the session.
   */
  readonly result: Promise<PromptResult>;
  /** Not wanted any more. It is answered all the same, as cancelled; one that was not sent yet is not. */
  cancel(): void;
}

/** The same from the other side. */
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
  // Whoever only reads the updates hears of it there.
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
      // Nobody reads them, or much too slowly. The answer still comes.
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

/** Characters. */
function measureUpdate(update: SessionUpdate): number {
  return "text" in update ? update.text.length : toJsonText(update).length;
}

/** Characters. */
const MAX_UNREAD_CHARACTERS = 64 * 1024 * 1024;
const UNREAD_MESSAGE =
  "Too much of what the agent said was not read; read the updates as they come, or use onUpdate";
