import { EventStreamCodec } from "@smithy/eventstream-codec";
import { fromUtf8, toUtf8 } from "@smithy/util-utf8";
import { describe, expect, it } from "vitest";
import { concat } from "../../../test/support/bytes/bytes.ts";
import { measureRetainedBytes } from "../../../test/support/memory-usage.ts";
import type { StreamMessage } from "../../domain/provider/stream-message.ts";
import { createEventStreamDecoder } from "./eventstream.ts";
import { encodeEvent, encodeException } from "./eventstream-format.ts";
import { readStreamMessage } from "./eventstream-message.ts";

const oracle = new EventStreamCodec(toUtf8, fromUtf8);

interface StringHeaders {
  readonly [name: string]: string;
}

function read(headers: StringHeaders, body: string): StreamMessage {
  return readBytes(encoded(headers, body));
}

function encoded(headers: StringHeaders, body: string): Uint8Array {
  return oracle.encode({
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, { type: "string", value }]),
    ),
    body: fromUtf8(body),
  });
}

/** A frame in the same window as the frame before, to measure how much of a window is retained. */
const FILLER = encodeEvent("novelty", { filler: "x".repeat(1_000_000) });

function readBytes(bytes: Uint8Array): StreamMessage {
  const messages: StreamMessage[] = [];
  const codec = createEventStreamDecoder();
  codec.step(codec.initial(), bytes, (item) => {
    if (item.type === "frame") messages.push(readStreamMessage(item));
  });
  const [message] = messages;
  if (message === undefined) throw new Error("no frame");
  return message;
}

describe("Reading the message of a frame", () => {
  it.each([
    { ":message-type": "event", ":event-type": "messageStart" },
    { ":message-type": "novelty" },
    { ":message-type": "exception", ":exception-type": "boom" },
    { ":message-type": "error" },
  ])("A body that is not JSON retains only its own text, not its window: %j", (headers) => {
    const bytes = concat(encoded(headers, "not JSON, and long enough to be a slice"), FILLER);
    const retainedBytes = measureRetainedBytes(() =>
      Array.from({ length: 20 }, () => readBytes(bytes)),
    );
    expect(retainedBytes).toBeLessThan(FILLER.length * 5);
  });

  it("The name of an event comes from the header, and the payload is the body without the name", () => {
    expect(
      read({ ":message-type": "event", ":event-type": "messageStart" }, '{"role":"assistant"}'),
    ).toEqual({ type: "event", name: "messageStart", payload: { role: "assistant" } });
  });

  it("An event without a body has an empty object as payload [AC-9]", () => {
    expect(read({ ":message-type": "event", ":event-type": "contentStart" }, "")).toEqual({
      type: "event",
      name: "contentStart",
      payload: {},
    });
  });

  it("A frame without a message type becomes a protocol error instead of a throw [AC-10]", () => {
    expect(read({ ":event-type": "messageStart" }, "{}")).toEqual({
      type: "failure",
      failure: {
        code: "protocol_error",
        message: "Frame 0 at byte 0 has no :message-type header",
        details: { offset: 0, ordinal: 0 },
      },
    });
    expect(read({ ":message-type": "event" }, "{}")).toMatchObject({
      type: "failure",
      failure: { code: "protocol_error" },
    });
  });

  it("An error frame is read with its code and message, also if the message is missing [AC-11]", () => {
    const code = { ":message-type": "error", ":error-code": "InternalError" };
    expect(read({ ...code, ":error-message": "went wrong" }, "")).toEqual({
      type: "exception",
      name: "InternalError",
      payload: { message: "went wrong" },
    });
    expect(read(code, "")).toEqual({
      type: "exception",
      name: "InternalError",
      payload: { message: "" },
    });
  });

  it("The exception header marks an exception, even with an event type or without a message type [RMA-P1-15]", () => {
    const expected = {
      type: "exception",
      name: "runtimeClientError",
      payload: { message: "duplicate Ids" },
    };
    const body = '{"message":"duplicate Ids"}';
    const name = { ":exception-type": "runtimeClientError" };
    expect(read({ ":message-type": "exception", ":event-type": "chunk", ...name }, body)).toEqual(
      expected,
    );
    expect(read(name, body)).toEqual(expected);
  });

  it("A payload that imitates an exception stays an event [RMA-P1-15]", () => {
    const forged = '{"__stream_error__":{"type":"x"},":message-type":"exception"}';
    expect(read({ ":message-type": "event", ":event-type": "metadata" }, forged)).toMatchObject({
      type: "event",
      name: "metadata",
    });
  });

  it("An exception whose body is not JSON has the body's text as message", () => {
    const headers = { ":message-type": "exception", ":exception-type": "validationException" };
    expect(read(headers, "<html>")).toEqual({
      type: "exception",
      name: "validationException",
      payload: { message: "<html>" },
    });
  });

  it("An unreadable payload is reported with its raw text [RMA-P1-14]", () => {
    const headers = { ":message-type": "event", ":event-type": "metadata" };
    expect(read(headers, '{"usage":')).toMatchObject({
      type: "malformed",
      name: "metadata",
      raw: '{"usage":',
    });
    const deep = "[".repeat(5000) + "]".repeat(5000);
    expect(read(headers, deep)).toMatchObject({
      type: "malformed",
      reason: 'Payload of "metadata" cannot be read: Nested deeper than 500 levels',
    });
  });

  it("A frame with an unknown message type is kept with its raw text", () => {
    expect(read({ ":message-type": "heartbeat" }, "x")).toMatchObject({
      type: "malformed",
      name: "heartbeat",
      raw: "x",
    });
  });

  it("Events and exceptions written by the encoder are read back unchanged", () => {
    expect(readBytes(encodeEvent("messageStop", { stopReason: "end_turn" }))).toEqual({
      type: "event",
      name: "messageStop",
      payload: { stopReason: "end_turn" },
    });
    expect(readBytes(encodeException("validationException", { message: "no" }))).toEqual({
      type: "exception",
      name: "validationException",
      payload: { message: "no" },
    });
  });
});
