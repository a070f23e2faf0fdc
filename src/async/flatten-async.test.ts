import { describe, expect, it } from "vitest";
import { flattenAsync } from "./flatten-async.ts";

async function* numbers(
  ...lists: readonly (readonly number[])[]
): AsyncGenerator<readonly number[]> {
  yield* lists;
}

async function* broken(): AsyncGenerator<readonly number[]> {
  yield [1, 2];
  throw new Error("The source broke");
}

async function all<Piece>(pieces: AsyncIterable<Piece>): Promise<Piece[]> {
  const read: Piece[] = [];
  for await (const piece of pieces) read.push(piece);
  return read;
}

const expand = (list: readonly number[]): readonly number[] => list;

describe("flattenAsync", () => {
  it("The result has the initial pieces, the pieces of every item, and the final pieces", async () => {
    const pieces = flattenAsync(numbers([1, 2], [], [3]), {
      initial: [0],
      expand,
      onEnd: () => [4, 5],
    });
    expect(await all(pieces)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("An empty source without initial and final pieces produces an empty result", async () => {
    expect(await all(flattenAsync(numbers(), { expand }))).toEqual([]);
  });

  it("A piece is created only when it is read", async () => {
    const made: number[] = [];
    const pieces = flattenAsync(numbers([1, 2]), {
      *expand(list) {
        for (const one of list) {
          made.push(one);
          yield one;
        }
      },
    });
    await pieces.next();
    expect(made).toEqual([1]);
  });

  it("An error of the source is thrown after onClose has finished", async () => {
    const steps: string[] = [];
    const pieces = flattenAsync(broken(), {
      expand,
      async onClose() {
        await Promise.resolve();
        steps.push("left");
      },
    });
    await expect(all(pieces)).rejects.toThrow("The source broke");
    expect(steps).toEqual(["left"]);
    expect(await pieces.next()).toEqual({ done: true, value: undefined });
  });

  it("onFailure replaces the rest of a failed source", async () => {
    const steps: string[] = [];
    const pieces = flattenAsync(broken(), {
      expand,
      onEnd: () => [-1],
      onFailure: () => [9],
      onClose: () => void steps.push("left"),
    });
    expect(await all(pieces)).toEqual([1, 2, 9]);
    expect(steps).toEqual(["left"]);
  });

  it("A reader that stops early calls onClose once and closes the source", async () => {
    const steps: string[] = [];
    async function* source(): AsyncGenerator<readonly number[]> {
      try {
        yield [1, 2];
        yield [3];
      } finally {
        steps.push("source");
      }
    }
    const pieces = flattenAsync(source(), { expand, onClose: () => void steps.push("left") });
    for await (const piece of pieces) {
      expect(piece).toBe(1);
      break;
    }
    await pieces.return?.();
    expect(await pieces.next()).toEqual({ done: true, value: undefined });
    expect(steps).toEqual(["left", "source"]);
  });

  it("A reader that stops while waiting receives no further piece", async () => {
    const { promise, resolve } = withResolvers<IteratorResult<readonly number[]>>();
    const pieces = flattenAsync({ next: () => promise }, { expand });
    const waiting = pieces.next();
    await pieces.return?.();
    resolve({ done: false, value: [1] });
    expect(await waiting).toEqual({ done: true, value: undefined });
  });
});

function withResolvers<Value>() {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((done) => (resolve = done));
  return { promise, resolve };
}
