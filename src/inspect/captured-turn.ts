import { streamCodec } from "../domain/codec.ts";
import { SpanlineError } from "../domain/errors.ts";
import { addToTurn, initialTurn } from "../domain/turn-state.ts";
import { snapshotTurn, type Turn } from "../domain/turn.ts";
import { captureReader } from "./capture-reader.ts";
import { capturedStreams, type Capture } from "./captured-streams.ts";

/** The one turn of a capture, gathered. */
export async function capturedTurn(capture: Capture): Promise<Turn> {
  const turns: Turn[] = [];
  for await (const { format, chunks } of capturedStreams(capture)) {
    const turn = initialTurn();
    for await (const event of streamCodec(captureReader(format, "unknown"), chunks)) {
      addToTurn(turn, event);
    }
    turns.push(snapshotTurn(turn));
  }
  const [turn] = turns;
  if (turn !== undefined && turns.length === 1) return turn;
  const message = `${capture.name} holds ${turns.length} turns, wanted one`;
  throw new SpanlineError("unreadable_input", message);
}
