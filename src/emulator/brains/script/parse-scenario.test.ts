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

describe("Scenario", () => {
  it("A scenario may be YAML or JSON", () => {
    const yaml = parseScenario("a", "seed: 3\nturns:\n  - when: hi\n    answer: Hello.\n");
    const json = parseScenario("a", '{"seed":3,"turns":[{"when":"hi","answer":"Hello."}]}');
    expect(json).toEqual(yaml);
    expect(yaml).toMatchObject({
      seed: 3,
      turns: [{ when: { prompt: "hi" }, answer: [{ type: "text", text: "Hello." }] }],
    });
  });

  it.each([
    ["turns: 3", "demo.yaml: 3 is not a valid turns: expected an array"],
    [
      "",
      "demo.yaml: scenario is missing: expected an object with some of seed, chunk, delay, repeat, turns",
    ],
    [
      "turns: []\nturn: 1",
      'demo.yaml: Key "turn" does not exist: expected "seed", "chunk", "delay", "repeat" or "turns". Fix: did you mean "turns"?',
    ],
    [
      "turns: [{answer: [{text: 3}]}]",
      "demo.yaml: 3 is not a valid turns[0].answer[0].text: expected a string",
    ],
    [
      "turns: [{answer: [{txet: hi}]}]",
      'demo.yaml: {"txet":"hi"} is not a valid turns[0].answer[0]: expected an item with one of text, reasoning, redacted, call, server, servers, hook, pause, usage, start, close, stop, event, bytes, raw, fail',
    ],
    [
      "turns: [{answer: hi, refuse: {status: 500}}]",
      'demo.yaml: {"answer":"hi","refuse":{"status":500}} is not a valid turns[0]: expected exactly one of "answer", "refuse" and "replay"',
    ],
    [
      "turns: [{answer: hi, faults: {resetAtByte: -1}}]",
      "demo.yaml: -1 is not a valid turns[0].faults.resetAtByte: expected a whole number, at least 0",
    ],
    [
      "turns: [{answer: hi, faults: {drip: {bytes: [5, 1]}}}]",
      "demo.yaml: [5,1] is not a valid turns[0].faults.drip.bytes: expected a number, or a list of the minimum and the maximum",
    ],
    [
      "turns: [{when: {pattern: '('}, answer: hi}]",
      'demo.yaml: "(" is not a valid turns[0].when.pattern: expected a regular expression',
    ],
    [
      "turns: [{answer: [{redacted: '!!'}]}]",
      'demo.yaml: "!!" is not a valid turns[0].answer[0].redacted: expected base64',
    ],
    ["turns: [", "demo.yaml: cannot be read as YAML: "],
    [
      "turns: [{refuse: {status: 99}}]",
      "demo.yaml: 99 is not a valid turns[0].refuse.status: expected a whole number from 200 to 599",
    ],
    [
      "turns: [{refuse: {status: 500.5}}]",
      "demo.yaml: 500.5 is not a valid turns[0].refuse.status: expected a whole number from 200 to 599",
    ],
    [
      'turns: [{refuse: {status: 500, type: "A\\r\\nB: c"}}]',
      'demo.yaml: "A\\r\\nB: c" is not a valid turns[0].refuse.type: expected a string that an HTTP header can carry: one line',
    ],
    [
      "turns: [{refuse: {type: constructor}}]",
      'demo.yaml: "constructor" is not a valid turns[0].refuse.type: expected a status, or one of ValidationException, ',
    ],
    [
      "turns: [{refuse: {status: 500, members: 3}}]",
      "demo.yaml: 3 is not a valid turns[0].refuse.members: expected an object",
    ],
    [
      'turns: [{answer: hi, faults: {contentType: "text/\\nplain"}}]',
      'demo.yaml: "text/\\nplain" is not a valid turns[0].faults.contentType: expected a string that an HTTP header can carry',
    ],
    [
      "turns: [{answer: hi, faults: {silenceAfter: 1.5}}]",
      "demo.yaml: 1.5 is not a valid turns[0].faults.silenceAfter: expected a whole number, at least 0",
    ],
    [
      "turns: [{answer: hi, faults: {drip: {bytes: [1, 2.5]}}}]",
      "demo.yaml: 2.5 is not a valid turns[0].faults.drip.bytes[1]: expected a whole number, at least 0",
    ],
    [
      "turns: [{answer: hi, faults: {prefix: {frame: 0, length: 4294967296}}}]",
      "demo.yaml: 4294967296 is not a valid turns[0].faults.prefix.length: expected a whole number from 0 to 4294967295",
    ],
    [
      "turns: [{answer: hi, faults: {padding: 1000001}}]",
      "demo.yaml: 1000001 is not a valid turns[0].faults.padding: expected a whole number from 0 to 1000000",
    ],
    [
      "turns: [{answer: hi, faults: {exception: {type: a, members: [1]}}}]",
      "demo.yaml: [1] is not a valid turns[0].faults.exception.members: expected an object",
    ],
  ])("An invalid scenario is refused with the path and the expected value: %s", (text, problem) => {
    expect(problemOf(text).startsWith(problem), problemOf(text)).toBe(true);
  });
});
