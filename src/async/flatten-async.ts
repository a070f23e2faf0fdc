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
  source: AsyncIterator<Item>,
  options: FlattenOptions<Item, Piece>,
): AsyncIterableIterator<Piece> {
  return new FlattenedPieces(source, options);
}

class FlattenedPieces<Item, Piece> implements AsyncIterableIterator<Piece> {
  readonly #options: FlattenOptions<Item, Piece>;
  #source: AsyncIterator<Item>;
  /** The pieces of the current item that were not returned yet. */
  #remaining: Iterator<Piece>;
  #isAtEnd = false;
  #closing: Promise<void> | undefined;
  // Created once per stream, not once per item.
  readonly #onItem = (item: IteratorResult<Item>): MaybePromise<IteratorResult<Piece>> =>
    this.#receive(item);
  readonly #onError = (error: unknown): Promise<IteratorResult<Piece>> => this.#fail(error);

  constructor(source: AsyncIterator<Item>, options: FlattenOptions<Item, Piece>) {
    this.#source = source;
    this.#options = options;
    this.#remaining = (options.initial ?? [])[Symbol.iterator]();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Piece>> {
    const piece = this.#remaining.next();
    if (piece.done !== true) return Promise.resolve(piece);
    return this.#isAtEnd ? this.#close() : this.#source.next().then(this.#onItem, this.#onError);
  }

  async return(): Promise<IteratorResult<Piece>> {
    const result = await this.#close();
    await this.#source.return?.();
    return result;
  }

  #receive(item: IteratorResult<Item>): MaybePromise<IteratorResult<Piece>> {
    // The reader may have stopped while the source was read.
    if (this.#closing !== undefined) return this.#close();
    const { expand, onEnd } = this.#options;
    this.#isAtEnd = item.done === true;
    return this.#begin(item.done === true ? (onEnd?.() ?? []) : expand(item.value));
  }

  async #fail(thrown: unknown): Promise<IteratorResult<Piece>> {
    if (this.#closing !== undefined) return this.#close();
    const { resume, onFailure = rethrow } = this.#options;
    this.#isAtEnd = true;
    try {
      const resumed = resume?.(thrown);
      if (resumed !== undefined) {
        this.#isAtEnd = false;
        this.#source = resumed.source;
        return await this.#begin(resumed.pieces);
      }
      return await this.#begin(onFailure(thrown));
    } catch (error) {
      await this.#close();
      throw error;
    }
  }

  #begin(pieces: Iterable<Piece>): MaybePromise<IteratorResult<Piece>> {
    this.#remaining = pieces[Symbol.iterator]();
    const piece = this.#remaining.next();
    return piece.done === true ? this.next() : piece;
  }

  async #close(): Promise<IteratorResult<Piece>> {
    this.#remaining = EMPTY_ITERATOR;
    this.#isAtEnd = true;
    await (this.#closing ??= Promise.resolve(this.#options.onClose?.()));
    return { done: true, value: undefined };
  }
}

type MaybePromise<Value> = Value | Promise<Value>;

const EMPTY_ITERATOR: Iterator<never> = { next: () => ({ done: true, value: undefined }) };

function rethrow(error: unknown): never {
  throw error;
}
