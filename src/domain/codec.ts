export type Emit<Out> = (out: Out) => void;

/**
 * Converts a stream of pieces into a stream of outputs, one piece at a time.
 *
 * A state belongs to one stream and is advanced in place: a copy per delta would make the cost of a long turn
 * quadratic. Nothing else is modified, so one codec value can serve any number of streams. `step` and `finish` never
 * throw; problems of the input are emitted as outputs.
 *
 * ```ts
 * // Splits text into lines; an unfinished last line comes from `finish`.
 * const lines: Codec<{ rest: string }, string, string> = {
 *   initial: () => ({ rest: "" }),
 *   step(state, piece, emit) {
 *     const [first = "", ...others] = (state.rest + piece).split("\n");
 *     const all = [first, ...others];
 *     state.rest = all.pop() ?? "";
 *     all.forEach(emit);
 *   },
 *   finish: ({ rest }, emit) => void (rest !== "" && emit(rest)),
 * };
 * runCodec(lines, ["a\nb", "c\n"]); // ["a", "bc"]
 * ```
 */
export interface Codec<State, Piece, Out> {
  initial(): State;
  step(state: State, piece: Piece, emit: Emit<Out>): void;
  /**
   * Handles the end of the input: emits pending output, or a failure if the input is incomplete. Called once, after the
   * last `step`.
   */
  finish(state: State, emit: Emit<Out>): void;
  /**
   * True if no further input can change the output, so the caller may stop reading. Absent: the codec always reads to
   * the end.
   */
  isOver?(state: State): boolean;
}

/**
 * Runs pieces through a codec as they arrive. An error of the source propagates to the caller; `finish` is not called
 * then.
 */
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

/** Runs a complete input through a codec and returns all outputs. */
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
