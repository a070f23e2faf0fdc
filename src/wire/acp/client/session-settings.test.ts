import { describe, expect, it } from "vitest";
import { readSessionModes, readConfigOptions } from "./session-settings.ts";

const WORDS = { description: null, category: null };

describe("Session settings", () => {
  it("Modes are read with the current mode, and modes without an id are dropped", () => {
    const availableModes = [{ id: "ask", name: "Ask", description: "Asks" }, { id: "x" }, {}, 1];
    expect(readSessionModes({ currentModeId: "ask", availableModes })).toEqual({
      current: "ask",
      available: [
        { id: "ask", name: "Ask", description: "Asks" },
        { id: "x", name: "x", description: null },
      ],
    });
    expect(readSessionModes({ currentModeId: "ask" })).toEqual({ current: "ask", available: [] });
    expect(readSessionModes({ availableModes })).toBeNull();
    expect(readSessionModes(null)).toBeNull();
  });

  it("Options are read with their choices, grouped or not", () => {
    const fast = { value: "fast", name: "Fast", description: "Answers soon" };
    const options = [
      { id: "model", name: "Model", category: "model", type: "select", currentValue: "fast" },
      { id: "level", type: "select", currentValue: "fast", options: [fast, { value: "deep" }, {}] },
      {
        id: "family",
        type: "select",
        currentValue: "fast",
        options: [{ group: "a", name: "A", options: [fast, { group: "b", options: [fast] }] }],
      },
      { id: "loud", name: "Loud", description: "Says more", type: "boolean", currentValue: true },
    ];
    const deep = { value: "deep", name: "deep", description: null, group: null };
    expect(readConfigOptions(options)).toEqual([
      {
        ...WORDS,
        id: "model",
        name: "Model",
        category: "model",
        type: "select",
        value: "fast",
        choices: [],
      },
      {
        ...WORDS,
        id: "level",
        name: "level",
        type: "select",
        value: "fast",
        choices: [{ ...fast, group: null }, deep],
      },
      {
        ...WORDS,
        id: "family",
        name: "family",
        type: "select",
        value: "fast",
        choices: [{ ...fast, group: "A" }],
      },
      {
        ...WORDS,
        id: "loud",
        name: "Loud",
        description: "Says more",
        type: "boolean",
        value: true,
      },
    ]);
  });

  it("An option of an unknown type keeps its raw fields, and an option without an id is dropped", () => {
    const colour = { id: "colour", name: "Colour", type: "palette", currentValue: ["red"] };
    const odd = { id: "odd", type: "boolean", currentValue: "yes" };
    expect(readConfigOptions([colour, odd, { name: "Nameless" }, "x"])).toEqual([
      { ...WORDS, id: "colour", name: "Colour", type: "other", fields: colour },
      { ...WORDS, id: "odd", name: "odd", type: "other", fields: odd },
    ]);
    expect(readConfigOptions(undefined)).toEqual([]);
  });
});
