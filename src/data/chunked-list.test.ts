import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  appendItem,
  countItems,
  createChunkedList,
  findItem,
  listItems,
  mapItems,
  removeItem,
} from "./chunked-list.ts";

describe("A list in chunks", () => {
  it("Any changes have the same result as on an array, and the earlier list is unchanged", () => {
    const change = fc.oneof(
      fc.record({ do: fc.constant("append" as const), item: fc.nat({ max: 50 }) }),
      fc.record({ do: fc.constant("remove" as const), item: fc.nat({ max: 50 }) }),
      fc.record({ do: fc.constant("map" as const), item: fc.nat({ max: 5 }) }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 50 }), { maxLength: 300 }),
        fc.array(change),
        (start, changes) => {
          let list = createChunkedList(start);
          let array: readonly number[] = start;
          for (const { do: kind, item } of changes) {
            const earlier = list;
            const before = listItems(earlier);
            if (kind === "append") {
              list = appendItem(list, item);
              array = array.concat(item);
            } else if (kind === "remove") {
              list = removeItem(list, (one) => one === item);
              const at = array.indexOf(item);
              if (at >= 0) array = array.toSpliced(at, 1);
            } else {
              list = mapItems(list, (one) => one + item);
              array = array.map((one) => one + item);
            }
            expect(listItems(earlier)).toEqual(before);
            expect(listItems(list)).toEqual(array);
            expect(countItems(list)).toBe(array.length);
            expect(findItem(list, (one) => one > 25)).toBe(array.find((one) => one > 25));
          }
        },
      ),
    );
  });

  it("Adding to a long list copies one chunk", () => {
    const list = createChunkedList(Array.from({ length: 1000 }, (_, at) => at));
    const longer = appendItem(list, 1000);
    expect(longer.slice(0, -1).every((chunk, at) => chunk === list[at])).toBe(true);
    const shorter = removeItem(list, (item) => item === 0);
    expect(shorter.slice(1).every((chunk, at) => chunk === list[at + 1])).toBe(true);
  });
});
