import { describe, expect, it } from "vitest";
import { parseSwitches, SWITCHES } from "./switches.ts";

describe("Switches", () => {
  it("The default of each switch is its first choice", () => {
    const defaults = Object.entries(SWITCHES).map(([name, [first]]) => [name, first]);
    expect(parseSwitches()).toEqual(Object.fromEntries(defaults));
  });

  it("A number is accepted for a choice that YAML reads as a number", () => {
    expect(parseSwitches({ stopUnknownSession: 404 }).stopUnknownSession).toBe("404");
  });

  it("Unknown names and values are refused", () => {
    expect(() => parseSwitches({ overlaping: "409" })).toThrow(
      'Key "switches.overlaping" does not exist. Fix: did you mean "overlapping"?',
    );
    expect(() => parseSwitches({ overlapping: "maybe" })).toThrow(
      '"maybe" is not a valid switches.overlapping: expected 409 or interleave',
    );
    expect(() => parseSwitches("x")).toThrow('"x" is not a valid switches: expected an object');
  });
});
