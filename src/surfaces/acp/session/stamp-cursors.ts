import { formatUpdateCursor, type UpdateCursor } from "../../../wire/acp/encode/update-cursor.ts";
import type { AcpOutput, UpdateOptions } from "../../../wire/acp/encode/update-state.ts";

export type DeliverOutput = (output: AcpOutput, cursor?: string) => void;

/** Gives each update the place from which a client that has it can go on, and leaves out what a client has. */
export interface CursorStamper {
  /** What an event came to. */
  deliver(outputs: readonly AcpOutput[], at: { incarnation: string; seq: number }): void;
}

export function createCursorStamper(
  { upTo }: Pick<UpdateOptions, "upTo">,
  from: UpdateCursor | undefined,
  deliver: DeliverOutput,
): CursorStamper {
  const isReplayed = from?.seq === 0;
  let isLive = false;
  /** Of what was there before, so far. */
  let sentCount = 0;
  /** Of the first event behind the cursor. */
  let knownCount = isReplayed ? 0 : (from?.updateOffset ?? 0);

  function deliverHistory(
    outputs: readonly AcpOutput[],
    incarnation: string,
    isComplete: boolean,
  ): void {
    const last = outputs.findLastIndex(isUpdate);
    for (const [index, output] of outputs.entries()) {
      if (!isUpdate(output)) deliver(output);
      else {
        sentCount += 1;
        // Whoever goes on from something live has all of before.
        const isKnown = from !== undefined && (!isReplayed || sentCount <= from.updateOffset);
        const position =
          isComplete && index === last
            ? { seq: upTo, updateOffset: 0 }
            : { seq: 0, updateOffset: sentCount };
        if (!isKnown) deliver(output, formatUpdateCursor({ incarnation, ...position }));
      }
    }
  }

  function deliverLive(
    outputs: readonly AcpOutput[],
    { incarnation, seq }: { incarnation: string; seq: number },
  ): void {
    const count = outputs.filter(isUpdate).length;
    let index = 0;
    for (const output of outputs) {
      if (!isUpdate(output)) deliver(output);
      else {
        index += 1;
        const position =
          index === count ? { seq, updateOffset: 0 } : { seq: seq - 1, updateOffset: index };
        if (index > knownCount) deliver(output, formatUpdateCursor({ incarnation, ...position }));
      }
    }
    if (count > 0) knownCount = 0;
  }

  return {
    deliver(outputs, at) {
      if (isLive) return deliverLive(outputs, at);
      const end = outputs.findIndex(({ type }) => type === "caught-up");
      isLive = end !== -1;
      deliverHistory(isLive ? outputs.slice(0, end) : outputs, at.incarnation, isLive);
      if (isLive) deliverLive(outputs.slice(end), at);
    },
  };
}

function isUpdate({ type }: AcpOutput): boolean {
  return type === "update" || type === "event";
}
