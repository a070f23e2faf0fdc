import { describe, expect, it } from "vitest";
import { parseScenario } from "./parse-scenario.ts";

function problemOf(text: string): string {
  try {
    parseScenario("demo.yaml", text);
    return "none";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe("a scenario", () => {
  it("is YAML, and so JSON too", () => {
    const yaml = parseScenario("a", "seed: 3\nturns:\n  - when: hi\n    answer: Hello.\n");
    const json = parseScenario("a", '{"seed":3,"turns":[{"when":"hi","answer":"Hello."}]}');
    expect(json).toEqual(yaml);
    expect(yaml).toMatchObject({
      seed: 3,
      turns: [{ when: { prompt: "hi" }, answer: [{ type: "text", text: "Hello." }] }],
    });
  });

  it.each([
    ["turns: 3", "demo.yaml: turns: found 3, wanted a list"],
    [
      "",
      "demo.yaml: the scenario: found nothing, wanted an object with some of seed, chunk, delay, repeat, turns",
    ],
    [
      "turns: []\nturn: 1",
      'demo.yaml: the scenario: found "turn", wanted one of the names seed, chunk, delay, repeat, turns',
    ],
    ["turns: [{answer: [{text: 3}]}]", "demo.yaml: turns[0].answer[0].text: found 3, wanted text"],
    [
      "turns: [{answer: [{txet: hi}]}]",
      'demo.yaml: turns[0].answer[0]: found {"txet":"hi"}, wanted an item with one of text, reasoning, redacted, call, server, servers, hook, pause, usage, start, close, stop, event, bytes, raw, fail',
    ],
    [
      "turns: [{answer: hi, refuse: {status: 500}}]",
      'demo.yaml: turns[0]: found {"answer":"hi","refuse":{"status":500}}, wanted exactly one of "answer", "refuse" and "replay"',
    ],
    [
      "turns: [{answer: hi, faults: {resetAtByte: -1}}]",
      "demo.yaml: turns[0].faults.resetAtByte: found -1, wanted a number from 0 on",
    ],
    [
      "turns: [{answer: hi, faults: {drip: {bytes: [5, 1]}}}]",
      "demo.yaml: turns[0].faults.drip.bytes: found [5,1], wanted a number, or a list of the least and the most",
    ],
    [
      "turns: [{when: {pattern: '('}, answer: hi}]",
      'demo.yaml: turns[0].when.pattern: found "(", wanted a regular expression',
    ],
    [
      "turns: [{answer: [{redacted: '!!'}]}]",
      'demo.yaml: turns[0].answer[0].redacted: found "!!", wanted base64',
    ],
    ["turns: [", "demo.yaml: cannot be read as YAML: "],
  ])("that is wrong says where and what was wanted: %s", (text, problem) => {
    expect(problemOf(text).startsWith(problem), problemOf(text)).toBe(true);
  });
});
