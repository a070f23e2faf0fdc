export interface FlattenOptions<Item, Piece> {
  /** What comes before anything is asked of the source. */
  readonly initial?: Iterable<Piece>;
  /** What an item comes to; made piece by piece, as it is read. */
  readonly expand: (item: Item) => Iterable<Piece>;
  /** What comes behind the last. */
  readonly onEnd?: () => Iterable<Piece>;
  /** What comes in place of the rest where the source fails. Without it, its reader is thrown what the source threw. */
  readonly onFailure?: (error: unknown) => Iterable<Piece>;
  /** Continues with another source where the source fails; undefined for a failure that ends the stream. */
  readonly resume?: (error: unknown) => ResumedSource<Item, Piece> | undefined;
  /** Called once, when nothing more is read of the source, whoever ended it. */
  readonly onClose?: () => void | Promise<void>;
}

export interface ResumedSource<Item, Piece> {
  readonly source: AsyncIterator<Item>;
  /** Come before those of the source. */
  readonly pieces: Iterable<Piece>;
}

/**
 * The pieces that the items of a source come to, read one at a time. An async generator would do; it was measured to cost
 * each reader 0.05 to 0.2 µs more for an event.
 */
export function flattenAsync<Item, Piece>(
  firstSource: AsyncIterator<Item>,
  {
    initial = [],
    expand,
    onEnd = () => [],
    onFailure = rethrow,
    resume,
    onClose,
  }: FlattenOptions<Item, Piece>,
): AsyncIterableIterator<Piece> {
  type Result = IteratorResult<Piece>;
  let source = firstSource;
  let remaining = initial[Symbol.iterator]();
  let isAtEnd = false;
  let closing: Promise<void> | undefined;

  const close = async (): Promise<Result> => {
    remaining = EMPTY_ITERATOR;
    isAtEnd = true;
    await (closing ??= Promise.resolve(onClose?.()));
    return { done: true, value: undefined };
  };
  const begin = (pieces: Iterable<Piece>): Result | Promise<Result> => {
    remaining = pieces[Symbol.iterator]();
    const piece = remaining.next();
    return piece.done === true ? next() : piece;
  };
  const receive = (item: IteratorResult<Item>): Result | Promise<Result> => {
    // Its reader may have left meanwhile.
    if (closing !== undefined) return close();
    isAtEnd = item.done === true;
    return begin(item.done === true ? onEnd() : expand(item.value));
  };
  const fail = async (thrown: unknown): Promise<Result> => {
    if (closing !== undefined) return close();
    isAtEnd = true;
    try {
      const resumed = resume?.(thrown);
      if (resumed !== undefined) {
        isAtEnd = false;
        source = resumed.source;
        return await begin(resumed.pieces);
      }
      return await begin(onFailure(thrown));
    } catch (error) {
      await close();
      throw error;
    }
  };
  const next = (): Promise<Result> => {
    const piece = remaining.next();
    if (piece.done !== true) return Promise.resolve(piece);
    return isAtEnd ? close() : source.next().then(receive, fail);
  };

  const pieces: AsyncIterableIterator<Piece> = {
    [Symbol.asyncIterator]: () => pieces,
    next,
    async return() {
      const result = await close();
      await source.return?.();
      return result;
    },
  };
  return pieces;
}

const EMPTY_ITERATOR: Iterator<never> = { next: () => ({ done: true, value: undefined }) };

function rethrow(error: unknown): never {
  throw error;
}
