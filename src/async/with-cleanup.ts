/**
 * Wraps an iterator and calls `cleanUp` when the iterator ends, fails or is closed early. A generator would do the same
 * with more time per item.
 */
export function withCleanup<Item>(
  source: AsyncIterator<Item>,
  cleanUp: () => void,
): AsyncIterator<Item> {
  const handleError = (error: unknown): never => {
    cleanUp();
    throw error;
  };
  const handleResult = (result: IteratorResult<Item>): IteratorResult<Item> => {
    if (result.done === true) cleanUp();
    return result;
  };
  return {
    next: () => source.next().then(handleResult, handleError),
    async return() {
      cleanUp();
      return (await source.return?.()) ?? { done: true, value: undefined };
    },
  };
}
