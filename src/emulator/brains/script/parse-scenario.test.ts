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
      "demo.yaml: turns[0].faults.resetAtByte: found -1, wanted a whole number from 0 on",
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
    [
      "turns: [{refuse: {status: 99}}]",
      "demo.yaml: turns[0].refuse.status: found 99, wanted a whole number from 200 to 599",
    ],
    [
      "turns: [{refuse: {status: 500.5}}]",
      "demo.yaml: turns[0].refuse.status: found 500.5, wanted a whole number from 200 to 599",
    ],
    [
      'turns: [{refuse: {status: 500, type: "A\\r\\nB: c"}}]',
      'demo.yaml: turns[0].refuse.type: found "A\\r\\nB: c", wanted text that an HTTP header can carry: one line',
    ],
    [
      "turns: [{refuse: {type: constructor}}]",
      'demo.yaml: turns[0].refuse.type: found "constructor", wanted a status, or one of ValidationException, ',
    ],
    [
      "turns: [{refuse: {status: 500, members: 3}}]",
      "demo.yaml: turns[0].refuse.members: found 3, wanted an object",
    ],
    [
      'turns: [{answer: hi, faults: {contentType: "text/\\nplain"}}]',
      'demo.yaml: turns[0].faults.contentType: found "text/\\nplain", wanted text that an HTTP header can carry',
    ],
    [
      "turns: [{answer: hi, faults: {silenceAfter: 1.5}}]",
      "demo.yaml: turns[0].faults.silenceAfter: found 1.5, wanted a whole number from 0 on",
    ],
    [
      "turns: [{answer: hi, faults: {drip: {bytes: [1, 2.5]}}}]",
      "demo.yaml: turns[0].faults.drip.bytes[1]: found 2.5, wanted a whole number from 0 on",
    ],
    [
      "turns: [{answer: hi, faults: {prefix: {frame: 0, length: 4294967296}}}]",
      "demo.yaml: turns[0].faults.prefix.length: found 4294967296, wanted a whole number from 0 to 4294967295",
    ],
    [
      "turns: [{answer: hi, faults: {padding: 1000001}}]",
      "demo.yaml: turns[0].faults.padding: found 1000001, wanted a whole number from 0 to 1000000",
    ],
    [
      "turns: [{answer: hi, faults: {exception: {type: a, members: [1]}}}]",
      "demo.yaml: turns[0].faults.exception.members: found [1], wanted an object",
    ],
  ])("that is wrong says where and what was wanted: %s", (text, problem) => {
    expect(problemOf(text).startsWith(problem), problemOf(text)).toBe(true);
  });
});
