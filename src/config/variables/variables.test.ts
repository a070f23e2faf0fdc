import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTemplate } from "./variables.ts";

describe("A string with variables", () => {
  it("A template is parsed into text and variable names, in order", () => {
    expect(readTemplate("Bearer ${TOKEN}", "p")).toEqual([{ text: "Bearer " }, { env: "TOKEN" }]);
    expect(readTemplate("${A}${B_2}!", "p")).toEqual([{ env: "A" }, { env: "B_2" }, { text: "!" }]);
    expect(readTemplate("$1 and $${A}", "p")).toEqual([{ text: "$1 and " }, { text: "${A}" }]);
  });

  it.each(["${}", "${1A}", "a ${NAME", "${a b}", "${A:-x}"])(
    "The invalid template %s is refused with its path",
    (text) => {
      expect(() => readTemplate(text, "agents.a.x")).toThrow(/^agents\.a\.x has a \$\{ without/);
    },
  );

  it("A string without a variable is unchanged", () => {
    const plain = fc.string().filter((text) => !text.includes("${"));
    fc.assert(
      fc.property(plain, (text) => {
        const parts = readTemplate(text, "p");
        expect(parts.map((part) => ("text" in part ? part.text : "?")).join("")).toBe(text);
      }),
    );
  });
});
