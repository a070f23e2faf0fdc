export interface FlattenOptions<Item, Piece> {
  /** Pieces before the first item. They are returned before the source is read. Default: none. */
  readonly initial?: Iterable<Piece>;
  /** Expands an item into pieces. The iterable is read lazily, one piece at a time. */
  readonly expand: (item: Item) => Iterable<Piece>;
  /** Pieces after the last item. Default: none. */
  readonly onEnd?: () => Iterable<Piece>;
  /** Pieces that replace the rest of a failed source. Default: the error of the source is thrown. */
  readonly onFailure?: (error: unknown) => Iterable<Piece>;
  /** Continues with another source after a failure. Returns undefined if the failure ends the stream. */
  readonly resume?: (error: unknown) => ResumedSource<Item, Piece> | undefined;
  /** Called once, when the source is no longer read: at its end, after a failure, or when the reader stops. */
  readonly onClose?: () => void | Promise<void>;
}

export interface ResumedSource<Item, Piece> {
  readonly source: AsyncIterator<Item>;
  /** Returned before the items of the new source. */
  readonly pieces: Iterable<Piece>;
}

/**
 * Flattens a stream of items into their pieces. Written without an async generator, which was measured to cost 0.05 to
 * 0.2 µs more per event and reader.
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
    // The reader may have stopped while the source was read.
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
