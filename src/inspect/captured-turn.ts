import { streamCodec } from "../domain/codec.ts";
import { SpanlineError } from "../domain/errors.ts";
import { addToTurn, createTurnBuilder } from "../domain/provider/turn-builder.ts";
import { snapshotTurn, type Turn } from "../domain/provider/turn.ts";
import { createCaptureReader } from "./capture-reader.ts";
import { readCapturedStreams, type Capture } from "./captured-streams.ts";

/** Reads a capture which must contain exactly one turn. */
export async function readCapturedTurn(capture: Capture): Promise<Turn> {
  const turns: Turn[] = [];
  for await (const { format, chunks } of readCapturedStreams(capture)) {
    const turn = createTurnBuilder();
    for await (const event of streamCodec(createCaptureReader(format, "unknown"), chunks)) {
      addToTurn(turn, event);
    }
    turns.push(snapshotTurn(turn));
  }
  const [turn] = turns;
  if (turn !== undefined && turns.length === 1) return turn;
  const message = `${capture.name} contains ${turns.length} turns, expected 1`;
  throw new SpanlineError("unreadable_input", message);
}
