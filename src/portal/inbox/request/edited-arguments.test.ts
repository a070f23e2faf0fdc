import { describe, expect, it } from "vitest";
import { formatArguments, readEditedArguments } from "./edited-arguments.ts";

const input = { path: "a.txt", text: "one" };

describe("Edited arguments", () => {
  it("Arguments in another order or layout are unchanged", () => {
    expect(readEditedArguments('{"text":"one","path":"a.txt"}', input)).toEqual({
      ok: true,
      input: { text: "one", path: "a.txt" },
      isChanged: false,
    });
  });

  it("A changed value is reported as a change", () => {
    const text = formatArguments(input).replace("one", "two");
    expect(readEditedArguments(text, input)).toEqual({
      ok: true,
      input: { path: "a.txt", text: "two" },
      isChanged: true,
    });
  });

  it("Invalid JSON is refused with its line and column", () => {
    expect(readEditedArguments('{\n  "path": oops\n}', input)).toEqual({
      ok: false,
      problem: expect.stringMatching(/^Not valid JSON/),
    });
    expect(readEditedArguments("", input)).toMatchObject({ ok: false });
  });

  it("Values other than an object are refused", () => {
    for (const text of ["[]", "1", "null", '"a"']) {
      expect(readEditedArguments(text, input)).toEqual({
        ok: false,
        problem: "The arguments are not valid: expected a JSON object",
      });
    }
  });

  it("A number that would lose digits is refused", () => {
    expect(readEditedArguments('{"id": 9007199254740993}', input)).toMatchObject({
      ok: false,
      problem: expect.stringContaining("too many digits"),
    });
  });

  it("The keys of prototypes stay data", () => {
    const result = readEditedArguments('{"__proto__": {"a": 1}}', input);
    expect(result.ok && Object.keys(result.input)).toEqual(["__proto__"]);
  });
});
