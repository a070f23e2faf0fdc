import { describe, expect, it } from "vitest";
import * as fc from "fast-check";
import { scanMessage } from "./rpc-line.ts";

describe("Scanning an unparsed message", () => {
  it.each([
    ['{"id":1,"method":"m"}', { id: 1, isResponse: false }],
    [' { "params" : {"id":2}, "id" : "a\\"b" }', { id: 'a"b', isResponse: false }],
    ['{"params":{"id":2,"result":1},"method":"m"}', { id: null, isResponse: false }],
    ['{"id":3,"result":{', { id: 3, isResponse: true }],
    ['{"error":{},"id":"e"}', { id: "e", isResponse: true }],
    ['{"id":4,"method":"m","error":{}}', { id: 4, isResponse: false }],
    ['{"method":"\\"id\\":9"}', { id: null, isResponse: false }],
    ['{"id":{"id":5}}', { id: null, isResponse: false }],
    ['{"id":12', { id: null, isResponse: false }],
    ['[{"id":6}]', { id: null, isResponse: false }],
    ["", { id: null, isResponse: false }],
  ])("%s has the id and the kind %j", (text, expected) => {
    expect(scanMessage(text)).toEqual(expected);
  });

  it("The id is found at any position of a message, and no other value is mistaken for it", () => {
    const id = fc.oneof(fc.string({ maxLength: 100 }), fc.integer(), fc.constant(null));
    const message = fc.record({ params: fc.jsonValue(), method: fc.string(), id });
    fc.assert(
      fc.property(message, (input) => {
        expect(scanMessage(JSON.stringify(input))).toEqual({ id: input.id, isResponse: false });
        const { id: _, ...without } = input;
        expect(scanMessage(JSON.stringify(without)).id).toBeNull();
      }),
    );
  });
});
