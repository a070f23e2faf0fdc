import { describe, expect, it } from "vitest";
import { suggestNames } from "./suggest-name.ts";

describe("suggestNames", () => {
  const names = ["support", "support_6e026828", "sales", "demo", "sh"];

  it.each([
    ["suport", ["support"]],
    ["Support", ["support", "support_6e026828"]],
    ["supp", ["support", "support_6e026828"]],
    ["salse", ["sales"]],
    ["dem", ["demo"]],
    ["planner", []],
    ["xyz", []],
    ["xy", []],
    ["", []],
  ])("Similar names are suggested for %s: %j", (meant, near) => {
    expect(suggestNames(meant, names)).toEqual(near);
  });

  it("A name without its first word is recognized, unless the rest is short", () => {
    const keys = ["maxDepth", "maxOpen", "firstRun"];
    expect(["depth", "open", "run"].map((name) => suggestNames(name, keys))).toEqual([
      ["maxDepth"],
      ["maxOpen"],
      [],
    ]);
  });

  it("At most five names are suggested, each only once", () => {
    const many = Array.from({ length: 20 }, (_, at) => `support_${at % 10}`);
    expect(suggestNames("support", many)).toEqual([0, 1, 2, 3, 4].map((at) => `support_${at}`));
  });
});
