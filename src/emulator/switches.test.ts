import { describe, expect, it } from "vitest";
import { parseSwitches, SWITCHES } from "./switches.ts";

describe("the switches", () => {
  it("have a default each, the first choice", () => {
    const defaults = Object.entries(SWITCHES).map(([name, [first]]) => [name, first]);
    expect(parseSwitches()).toEqual(Object.fromEntries(defaults));
  });

  it("take numbers for what YAML reads as one", () => {
    expect(parseSwitches({ stopUnknownSession: 404 }).stopUnknownSession).toBe("404");
  });

  it("refuse names and values that there are not", () => {
    expect(() => parseSwitches({ overlaping: "409" })).toThrow(
      'There is no switch "overlaping"; there are onDisconnect, overlapping,',
    );
    expect(() => parseSwitches({ overlapping: "maybe" })).toThrow(
      'The switch "overlapping" is "maybe", wanted "409" or "interleave"',
    );
    expect(() => parseSwitches("x")).toThrow('Switches are "x", wanted an object');
  });
});
