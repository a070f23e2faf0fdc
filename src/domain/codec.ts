export type Emit<Out> = (out: Out) => void;

/**
 * Everything that turns one kind of piece into another, a piece at a time.
 *
 * A state belongs to one stream and is advanced in place: copying it for every delta of a long turn would make the
 * cost of a turn grow with its square. Nothing else is touched, so a codec value can serve any number of streams.
 * `step` and `finish` never throw; what is wrong with the input comes out through `emit`.
 */
export interface Codec<State, Piece, Out> {
  initial(): State;
  step(state: State, piece: Piece, emit: Emit<Out>): void;
  /** Says what the end of the input means. Called once, after the last `step`. */
  finish(state: State, emit: Emit<Out>): void;
  /** Whether the input can say nothing more, so that the rest of it need not be read. */
  isOver?(state: State): boolean;
}

/** Runs an input through a codec as it arrives. An error of the source is the caller's to catch; nothing is made of it. */
export async function* streamCodec<State, Piece, Out>(
  codec: Codec<State, Piece, Out>,
  pieces: AsyncIterable<Piece>,
): AsyncGenerator<Out, void, undefined> {
  let out: Out[] = [];
  const emit = (item: Out): void => void out.push(item);
  const state = codec.initial();
  for await (const piece of pieces) {
    codec.step(state, piece, emit);
    yield* out;
    out = [];
  }
  codec.finish(state, emit);
  yield* out;
}

/** Runs a whole input through a codec. */
export function runCodec<State, Piece, Out>(
  codec: Codec<State, Piece, Out>,
  pieces: Iterable<Piece>,
): Out[] {
  const out: Out[] = [];
  const emit = (item: Out): void => void out.push(item);
  const state = codec.initial();
  for (const piece of pieces) codec.step(state, piece, emit);
  codec.finish(state, emit);
  return out;
}
