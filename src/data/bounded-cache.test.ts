import { describe, expect, it } from "vitest";
import { BoundedCache } from "./bounded-cache.ts";

function cached(
  maxWeight: number,
  ...entries: readonly (readonly [name: string, weight: number])[]
) {
  const values = new BoundedCache<number>(maxWeight);
  for (const [name, weight] of entries) values.set(name, weight, weight);
  return (names: string) =>
    names
      .split("")
      .filter((name) => values.get(name) !== undefined)
      .join("");
}

describe("BoundedCache", () => {
  it("The oldest values are evicted first when the limit is exceeded", () => {
    expect(cached(10, ["a", 4], ["b", 4], ["c", 2])("abc")).toBe("abc");
    expect(cached(10, ["a", 4], ["b", 4], ["c", 3])("abc")).toBe("bc");
    expect(cached(10, ["a", 1], ["b", 1], ["c", 10])("abc")).toBe("c");
  });

  it("The newest value is cached even if its weight exceeds the limit", () => {
    expect(cached(10, ["a", 4], ["b", 99])("ab")).toBe("b");
    expect(cached(10, ["a", 99], ["b", 4])("ab")).toBe("b");
  });

  it("Setting a name again replaces its weight and makes the value the newest", () => {
    expect(cached(10, ["a", 8], ["b", 1], ["a", 2], ["c", 7])("abc")).toBe("abc");
    expect(cached(10, ["a", 2], ["b", 7], ["a", 2], ["c", 2])("abc")).toBe("ac");
  });

  it("A cleared cache is empty and has no weight", () => {
    const values = new BoundedCache<number>(10);
    values.set("a", 1, 9);
    values.clear();
    expect(values.get("a")).toBeUndefined();
    values.set("b", 2, 5);
    values.set("c", 3, 5);
    expect([values.get("b"), values.get("c")]).toEqual([2, 3]);
  });
});
