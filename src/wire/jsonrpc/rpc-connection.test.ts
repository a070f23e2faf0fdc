import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitChunks } from "../../../test/support/bytes/bytes.ts";
import { runCodec } from "../../domain/codec.ts";
import { createJsonLinesDecoder } from "../framing/json-lines.ts";
import {
  readMessage,
  encodeNotificationLine,
  encodeRequestLine,
  encodeResponseLine,
} from "./rpc-line.ts";
import { createRpcConnection, type ReceivedMessage } from "./rpc-connection.ts";
import { runs } from "../../../test/support/test-depth.ts";

interface Waiting {
  readonly what: string;
}

function connection(epoch = "e", maxOpenRequests = 256) {
  return createRpcConnection<Waiting>({ epoch, maxOpenRequests });
}

function refusal(received: ReceivedMessage<Waiting>): unknown {
  if (received.type !== "refused") throw new Error(`not refused: ${received.type}`);
  const { id, error } = JSON.parse(received.line);
  return { id, code: error.code };
}

/** A request whose parameters exceed the nesting limit. */
function deep(before: string, after = ""): string {
  const members = [before, `"params":${"[".repeat(600)}${"]".repeat(600)}`, after];
  return `{${members.filter((member) => member !== "").join(",")}}`;
}

function longId(): string {
  return JSON.stringify({ id: "x".repeat(257), method: "m" });
}

describe("Reading a line", () => {
  it.each([
    ["string", "a"],
    ["number", 7],
    ["zero", 0],
    ["fraction", 1.5],
    ["null", null],
  ])("A request with a %s as id is read and answered with the unchanged id", (_, id) => {
    const rpc = connection();
    const request = rpc.read(JSON.stringify({ jsonrpc: "2.0", id, method: "m", params: [1] }));
    expect(request).toEqual({ type: "request", id, method: "m", params: [1] });
    const line = request.type === "request" && rpc.respond(request, { ok: true, result: {} });
    expect(line).toBe(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{}}\n`);
  });

  it("A message without an id is a notification", () => {
    expect(connection().read('{"jsonrpc":"2.0","method":"m"}')).toEqual({
      type: "notification",
      method: "m",
      params: undefined,
    });
  });

  it.each([
    ["text that is not JSON", "{", null, -32700],
    ["an empty object", "{}", null, -32600],
    ["a bare value", '"x"', null, -32600],
    ["a method that is not a string", '{"jsonrpc":"2.0","id":1,"method":2}', 1, -32600],
    ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"m"}', null, -32600],
    ["an id that a double cannot hold", '{"id":9007199254740993,"method":"m"}', null, -32600],
    ["an id that is infinite", '{"id":1e999,"method":"m"}', null, -32600],
    ["another version", '{"jsonrpc":"1.0","id":"a","method":"m"}', "a", -32600],
    ["nesting without end", "[".repeat(100_000), null, -32700],
  ])("A line with %s is refused", (_, line, id, code) => {
    expect(refusal(connection().read(line))).toEqual({ id, code });
  });

  it("Each message of a batch is read as if sent alone, and invalid entries are refused [ACP-6]", () => {
    const batch = [
      { jsonrpc: "2.0", id: 1, method: "a" },
      { jsonrpc: "2.0", method: "b" },
      7,
      [{ jsonrpc: "2.0", id: 2, method: "c" }],
      { jsonrpc: "2.0", id: "x", result: 1 },
    ];
    const read = connection().readAll(JSON.stringify(batch));
    expect(read.map(({ type }) => type)).toEqual([
      "request",
      "notification",
      "refused",
      "refused",
      "stray",
    ]);
    expect(connection().readAll('{"id":1,"method":"a"}')).toMatchObject([{ type: "request" }]);
  });

  it("An empty, oversized or invalid batch is refused with one error [ACP-6]", () => {
    const many = Array.from({ length: 101 }, (_, id) => ({ id, method: "a" }));
    for (const line of ["[]", JSON.stringify(many), "[{]"]) {
      const read = connection().readAll(line);
      expect(read).toHaveLength(1);
      expect(read.map(refusal)).toMatchObject([{ id: null }]);
    }
  });

  it("A batch is refused with one error where only single messages are accepted [ACP-6]", () => {
    const batch = JSON.stringify([
      { jsonrpc: "2.0", id: 1, method: "a" },
      { jsonrpc: "2.0", id: 2, method: "b" },
    ]);
    expect(refusal(connection().read(batch))).toEqual({ id: null, code: -32600 });
    expect(refusal(connection().read("[]"))).toEqual({ id: null, code: -32600 });
  });

  it("A line with too many object members is refused, and a line with as many values is accepted", () => {
    const many = Array.from({ length: 200_001 }, (_, at) => at);
    const members = Object.fromEntries(many.map((at) => [`m${at}`, 0]));
    const line = (params: object): string => JSON.stringify({ id: 1, method: "m", params });
    expect(refusal(connection().read(line(members)))).toEqual({ id: 1, code: -32700 });
    expect(connection().read(line({ many })).type).toBe("request");
  });

  it("A __proto__ key is kept as data", () => {
    const message = readMessage('{"id":1,"method":"m","params":{"__proto__":{"method":"x"}}}');
    if (message.type !== "request") throw new Error("not a request");
    expect(JSON.stringify(message.params)).toBe('{"__proto__":{"method":"x"}}');
    expect(readMessage('{"__proto__":{"method":"m","id":1}}').type).toBe("invalid");
  });

  it("Requests above the limit are refused until earlier requests are answered", () => {
    const rpc = connection("e", 2);
    const line = '{"jsonrpc":"2.0","id":1,"method":"m"}';
    const first = rpc.read(line);
    rpc.read(line);
    expect(refusal(rpc.read(line))).toEqual({ id: 1, code: -32603 });
    if (first.type === "request") rpc.respond(first, { ok: true, result: null });
    expect(rpc.read(line).type).toBe("request");
  });

  it("A skipped line is refused with the id found in its start", () => {
    const skipped = (start: string): unknown => {
      const line = { code: "line_too_large", reason: "too long", start } as const;
      const received = connection().readSkipped(line);
      return received.type === "refused" ? JSON.parse(received.line) : received;
    };
    const error = {
      code: -32600,
      message: "Invalid request: too long",
      data: { code: "line_too_large" },
    };
    expect(skipped('{"jsonrpc":"2.0","id":"r7","method":"m","params":{"id":3')).toEqual({
      jsonrpc: "2.0",
      id: "r7",
      error,
    });
    expect(skipped('{"method":"m","params":"x')).toEqual({ jsonrpc: "2.0", id: null, error });
  });

  it("A skipped response ends the request it answers", () => {
    const rpc = connection();
    const sent = rpc.request("m", {}, { what: "a" });
    const start = `{"jsonrpc":"2.0","id":"${sent?.id}","result":{"text":"xxx`;
    const line = { code: "line_too_large", reason: "too long", start } as const;
    expect(rpc.readSkipped(line)).toEqual({
      type: "response",
      waiting: { what: "a" },
      outcome: {
        ok: false,
        error: {
          code: -32600,
          message: "Invalid request: too long",
          data: { code: "line_too_large" },
        },
      },
    });
  });

  it("A line with more values than an HTTP body may have is refused with its id and the limit [ACP-16]", () => {
    const line = (values: number): string =>
      `{"jsonrpc":"2.0","id":"p7","method":"m","params":{"list":[${"{},".repeat(values)}0]}}`;
    expect(connection().read(line(249_990)).type).toBe("request");
    const received = connection().read(line(250_001));
    if (received.type !== "refused") throw new Error("not refused");
    expect(JSON.parse(received.line)).toEqual({
      jsonrpc: "2.0",
      id: "p7",
      error: {
        code: -32700,
        message: "Parse error: More than 250000 values",
        data: { code: "message_too_complex" },
      },
    });
  });

  it.each([
    ["more requests than may be open", '{"id":7,"method":"m"}', 7, "throttled"],
    ["JSON that is too deep", deep('"id":7,"method":"m"'), 7, "message_too_complex"],
    ["JSON that is too deep before its id", deep("", '"id":"z"'), "z", "message_too_complex"],
    ["a batch of too many", `[${"1,".repeat(100)}1]`, null, "message_too_complex"],
    ["text that is not JSON", "{", null, "invalid_message"],
    ["an id that is too long", longId(), null, "invalid_message"],
    ["another version", '{"jsonrpc":"1.0","id":"a","method":"m"}', "a", "invalid_message"],
  ])("The refusal of %s has the request's id and a stable code", (_, line, id, code) => {
    const [received] = connection("e", 0).readAll(line);
    if (received?.type !== "refused") throw new Error("not refused");
    expect(JSON.parse(received.line)).toMatchObject({ id, error: { data: { code } } });
    expect(received.line.length).toBeLessThan(400);
  });
});

describe("Responding to requests", () => {
  it("A request is answered once", () => {
    const rpc = connection();
    const request = rpc.read('{"jsonrpc":"2.0","id":1,"method":"m"}');
    if (request.type !== "request") throw new Error("not a request");
    expect(rpc.respond(request, { ok: true, result: 1 })).toBeDefined();
    expect(rpc.respond(request, { ok: true, result: 2 })).toBeUndefined();
  });

  it("Two open requests with the same id are distinguished", () => {
    const rpc = connection();
    const line = '{"jsonrpc":"2.0","id":null,"method":"m"}';
    const [first, second] = [rpc.read(line), rpc.read(line)];
    if (first.type !== "request" || second.type !== "request") throw new Error("not requests");
    expect(rpc.respond(first, { ok: true, result: 1 })).toBeDefined();
    expect(rpc.respond(second, { ok: true, result: 2 })).toBeDefined();
  });
});

describe("Sending requests", () => {
  it("Responses settle their requests in any order", () => {
    const rpc = connection();
    const a = rpc.request("m", {}, { what: "a" });
    const b = rpc.request("m", {}, { what: "b" });
    expect(rpc.read(encodeResponseLine(b?.id ?? "", { ok: true, result: 2 }))).toEqual({
      type: "response",
      waiting: { what: "b" },
      outcome: { ok: true, result: 2 },
    });
    const error = { code: -32601, message: "no" };
    expect(rpc.read(encodeResponseLine(a?.id ?? "", { ok: false, error }))).toEqual({
      type: "response",
      waiting: { what: "a" },
      outcome: { ok: false, error },
    });
  });

  it("Ids are never reused, so a late response does not settle a newer request [W-39]", () => {
    const rpc = connection("first");
    const old = rpc.request("m", {}, { what: "old" });
    rpc.forget(old?.id ?? "");
    const ids = Array.from({ length: 1000 }, () => {
      const sent = rpc.request("m", {}, { what: "new" });
      rpc.forget(sent?.id ?? "");
      return sent?.id;
    });
    expect(new Set([old?.id, ...ids]).size).toBe(1001);
    expect(rpc.read(encodeResponseLine(old?.id ?? "", { ok: true, result: "yes" }))).toEqual({
      type: "stray",
      id: old?.id,
      outcome: { ok: true, result: "yes" },
    });
  });

  it("A response to an earlier connection is not accepted [W-39]", () => {
    const before = connection("before").request("m", {}, { what: "before" });
    const now = connection("now");
    now.request("m", {}, { what: "now" });
    expect(now.read(encodeResponseLine(before?.id ?? "", { ok: true, result: 1 })).type).toBe(
      "stray",
    );
  });

  it("A second response to the same request is stray", () => {
    const rpc = connection();
    const sent = rpc.request("m", {}, { what: "a" });
    const line = encodeResponseLine(sent?.id ?? "", { ok: true, result: 1 });
    expect([rpc.read(line).type, rpc.read(line).type]).toEqual(["response", "stray"]);
  });

  it.each([
    ["neither result nor error", {}, { ok: true, result: null }],
    ["a result and an error", { result: 1, error: { code: 2, message: "no" } }, "error"],
    ["an error that is a string", { error: "no" }, "error"],
    ["an error without a code", { error: {} }, "error"],
    ["a result and a null error", { result: 1, error: null }, { ok: true, result: 1 }],
  ])("A response with %s is read", (_, fields, outcome) => {
    const rpc = connection();
    const sent = rpc.request("m", {}, { what: "a" });
    const received = rpc.read(JSON.stringify({ jsonrpc: "2.0", id: sent?.id, ...fields }));
    if (received.type !== "response") throw new Error(received.type);
    expect(received.outcome.ok ? received.outcome : "error").toEqual(outcome);
  });

  it("No request is created above the limit", () => {
    const rpc = connection("e", 1);
    const sent = rpc.request("m", {}, { what: "a" });
    expect(rpc.request("m", {}, { what: "b" })).toBeUndefined();
    rpc.forget(sent?.id ?? "");
    expect(rpc.request("m", {}, { what: "c" })).toBeDefined();
  });
});

describe("Messages as lines", () => {
  const id = fc.oneof(fc.string(), fc.integer(), fc.constant(null));
  const params = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()));
  const message = fc.oneof(
    fc.tuple(fc.string(), fc.string(), params).map((all) => encodeRequestLine(...all)),
    fc.tuple(fc.string(), params).map((all) => encodeNotificationLine(...all)),
    fc
      .tuple(id, fc.jsonValue())
      .map(([to, result]) => encodeResponseLine(to, { ok: true, result })),
  );

  it("Messages are read the same for every split of their bytes [ACP-4]", () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 6 }),
        fc.constantFrom("\n", "\r\n", "\n\n \n"),
        fc.integer({ min: 1, max: 64 }),
        (lines, end, size) => {
          const text = lines.map((line) => line.replace(/\n$/, end)).join("");
          const chunks = splitChunks(new TextEncoder().encode(text), size);
          const read = runCodec(createJsonLinesDecoder(), chunks).map((item) =>
            item.type === "line" ? readMessage(item.text) : item,
          );
          expect(read).toEqual(lines.map((line) => readMessage(line.trimEnd())));
          expect(read.every(({ type }) => type !== "invalid")).toBe(true);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it("A message is always exactly one line [ACP-2]", () => {
    fc.assert(
      fc.property(message, (line) => {
        expect(line.indexOf("\n")).toBe(line.length - 1);
      }),
    );
  });

  it("A message with a value without a JSON form stays a valid message", () => {
    expect(readMessage(encodeNotificationLine("m", { big: 1n })).type).toBe("notification");
  });
});
