export interface Flattening<Item, Piece> {
  /** What comes before anything is asked of the source. */
  readonly first?: Iterable<Piece>;
  /** What an item comes to; made piece by piece, as it is read. */
  readonly of: (item: Item) => Iterable<Piece>;
  /** What comes behind the last. */
  readonly atEnd?: () => Iterable<Piece>;
  /** What comes in place of the rest where the source fails. Without it, its reader is thrown what the source threw. */
  readonly atFailure?: (error: unknown) => Iterable<Piece>;
  /** Called once, when nothing more is read of the source, whoever ended it. */
  readonly leave?: () => void | Promise<void>;
}

/**
 * The pieces that the items of a source come to, read one at a time. An async generator would do; it was measured to cost
 * each reader 0.05 to 0.2 µs more for an event.
 */
export function flattened<Item, Piece>(
  source: AsyncIterator<Item>,
  { first = [], of, atEnd = () => [], atFailure = rethrow, leave }: Flattening<Item, Piece>,
): AsyncIterableIterator<Piece> {
  type Result = IteratorResult<Piece>;
  let left = first[Symbol.iterator]();
  let isAtEnd = false;
  let leaving: Promise<void> | undefined;

  const over = async (): Promise<Result> => {
    left = NOTHING;
    isAtEnd = true;
    await (leaving ??= Promise.resolve(leave?.()));
    return { done: true, value: undefined };
  };
  const begin = (pieces: Iterable<Piece>): Result | Promise<Result> => {
    left = pieces[Symbol.iterator]();
    const piece = left.next();
    return piece.done === true ? next() : piece;
  };
  const taken = (item: IteratorResult<Item>): Result | Promise<Result> => {
    // Its reader may have left meanwhile.
    if (leaving !== undefined) return over();
    isAtEnd = item.done === true;
    return begin(item.done === true ? atEnd() : of(item.value));
  };
  const failed = async (thrown: unknown): Promise<Result> => {
    isAtEnd = true;
    try {
      return await begin(atFailure(thrown));
    } catch (error) {
      await over();
      throw error;
    }
  };
  const next = (): Promise<Result> => {
    const piece = left.next();
    if (piece.done !== true) return Promise.resolve(piece);
    return isAtEnd ? over() : source.next().then(taken, failed);
  };

  const pieces: AsyncIterableIterator<Piece> = {
    [Symbol.asyncIterator]: () => pieces,
    next,
    async return() {
      const result = await over();
      await source.return?.();
      return result;
    },
  };
  return pieces;
}

const NOTHING: Iterator<never> = { next: () => ({ done: true, value: undefined }) };

function rethrow(error: unknown): never {
  throw error;
}
