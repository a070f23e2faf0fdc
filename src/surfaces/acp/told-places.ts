import { updateCursorText, type UpdateCursor } from "../../wire/acp/update-cursor.ts";
import type { AcpOutput, UpdateOptions } from "../../wire/acp/update-state.ts";

export type Deliver = (output: AcpOutput, cursor?: string) => void;

/** Gives each update the place from which a client that has it can go on, and leaves out what a client has. */
export interface ToldPlaces {
  /** What an event came to. */
  tell(outputs: readonly AcpOutput[], at: { incarnation: string; seq: number }): void;
}

export function toldPlaces(
  { upTo }: Pick<UpdateOptions, "upTo">,
  from: UpdateCursor | undefined,
  deliver: Deliver,
): ToldPlaces {
  const isReplayed = from?.seq === 0;
  let isLive = false;
  /** Of what was there before, so far. */
  let told = 0;
  /** Of the first event behind the cursor. */
  let known = isReplayed ? 0 : (from?.told ?? 0);

  function tellBefore(outputs: readonly AcpOutput[], incarnation: string, isWhole: boolean): void {
    const last = outputs.findLastIndex(isUpdate);
    for (const [index, output] of outputs.entries()) {
      if (!isUpdate(output)) deliver(output);
      else {
        told += 1;
        // Whoever goes on from something live has all of before.
        const isKnown = from !== undefined && (!isReplayed || told <= from.told);
        const place = isWhole && index === last ? { seq: upTo, told: 0 } : { seq: 0, told };
        if (!isKnown) deliver(output, updateCursorText({ incarnation, ...place }));
      }
    }
  }

  function tellLive(
    outputs: readonly AcpOutput[],
    { incarnation, seq }: { incarnation: string; seq: number },
  ): void {
    const count = outputs.filter(isUpdate).length;
    let index = 0;
    for (const output of outputs) {
      if (!isUpdate(output)) deliver(output);
      else {
        index += 1;
        const place = index === count ? { seq, told: 0 } : { seq: seq - 1, told: index };
        if (index > known) deliver(output, updateCursorText({ incarnation, ...place }));
      }
    }
    if (count > 0) known = 0;
  }

  return {
    tell(outputs, at) {
      if (isLive) return tellLive(outputs, at);
      const end = outputs.findIndex(({ type }) => type === "caught-up");
      isLive = end !== -1;
      tellBefore(isLive ? outputs.slice(0, end) : outputs, at.incarnation, isLive);
      if (isLive) tellLive(outputs.slice(end), at);
    },
  };
}

function isUpdate({ type }: AcpOutput): boolean {
  return type === "update" || type === "event";
}
