import { itemQueue } from "../async/item-queue.ts";
import { SpanlineError } from "../domain/errors.ts";
import { jsonText } from "../domain/json.ts";
import type { PromptResult } from "../wire/acp/client/agent-results.ts";
import type { SeenUpdate } from "../wire/acp/client/seen-update.ts";

/** A prompt on its way: what the session says until it is answered, and the answer. */
export interface PromptRun extends AsyncIterable<SeenUpdate> {
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
  told(update: SeenUpdate): void;
  finish(result: PromptResult): void;
  fail(error: unknown): void;
}

export function openPrompt(cancel: () => void): OpenPrompt {
  let unread = 0;
  let finish: OpenPrompt["finish"] = () => {};
  let reject: OpenPrompt["fail"] = () => {};
  const result = new Promise<PromptResult>((resolve, refuse) => {
    finish = resolve;
    reject = refuse;
  });
  // Whoever only reads the updates hears of it there.
  result.catch(() => {});
  const updates = itemQueue<SeenUpdate>();

  async function* read(): AsyncGenerator<SeenUpdate, void, undefined> {
    for await (const update of updates) {
      unread -= weightOf(update);
      yield update;
    }
  }

  return {
    run: { result, cancel, [Symbol.asyncIterator]: read },
    told(update) {
      unread += weightOf(update);
      if (unread <= MOST_UNREAD) updates.push(update);
      // Nobody reads them, or much too slowly. The answer still comes.
      else updates.end(new SpanlineError("turn_too_large", UNREAD));
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
export function weightOf(update: SeenUpdate): number {
  return "text" in update ? update.text.length : jsonText(update).length;
}

/** Characters. */
const MOST_UNREAD = 64 * 1024 * 1024;
const UNREAD =
  "Too much of what the agent said was not read; read the updates as they come, or use onUpdate";
