import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTemplate } from "./variables.ts";

describe("a text with variables in it", () => {
  it("is its pieces and their names, in order", () => {
    expect(readTemplate("Bearer ${TOKEN}", "p")).toEqual([{ text: "Bearer " }, { env: "TOKEN" }]);
    expect(readTemplate("${A}${B_2}!", "p")).toEqual([{ env: "A" }, { env: "B_2" }, { text: "!" }]);
    expect(readTemplate("$1 and $${A}", "p")).toEqual([{ text: "$1 and " }, { text: "${A}" }]);
  });

  it.each(["${}", "${1A}", "a ${NAME", "${a b}", "${A:-x}"])(
    "is refused as %s, with its path",
    (text) => {
      expect(() => readTemplate(text, "agents.a.x")).toThrow(/^agents\.a\.x has a \$\{ without/);
    },
  );

  it("is any text without ${, as it is", () => {
    const plain = fc.string().filter((text) => !text.includes("${"));
    fc.assert(
      fc.property(plain, (text) => {
        const parts = readTemplate(text, "p");
        expect(parts.map((part) => ("text" in part ? part.text : "?")).join("")).toBe(text);
      }),
    );
  });
});
