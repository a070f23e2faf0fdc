import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../data/json.ts";
import type { RpcResponse } from "../../jsonrpc/rpc-message.ts";
import {
  encodeCreateTerminalRequest,
  readFileTextReply,
  readFileWrittenReply,
  encodeReadFileRequest,
  readTerminalExitReply,
  readTerminalIdReply,
  encodeTerminalRequest,
  readTerminalOutputReply,
  encodeWriteFileRequest,
} from "./editor-messages.ts";
import {
  decodeFileRead,
  decodeFileWrite,
  decodeTerminalReference,
  decodeTerminalStart,
} from "./decode-editor-requests.ts";

const answered = (result: JsonValue): RpcResponse => ({ ok: true, result });
const refused = (code: number, message = "No"): RpcResponse => ({
  ok: false,
  error: { code, message },
});

describe("Requests to an editor", () => {
  it("The host SDK decodes the requests as Spanline encodes them", () => {
    const place = { sessionId: "s", path: "/work/a" };
    expect(decodeFileRead(encodeReadFileRequest("s", "/work/a").params)).toEqual({
      ok: true,
      value: place,
    });
    expect(decodeFileWrite(encodeWriteFileRequest("s", "/work/a", "text").params)).toEqual({
      ok: true,
      value: { ...place, content: "text" },
    });
    const command = { command: "ls", args: ["-l"], workingDirectory: "/work", outputBytes: 9 };
    expect(decodeTerminalStart(encodeCreateTerminalRequest("s", command).params)).toMatchObject({
      value: { command: "ls", args: ["-l"], workingDirectory: "/work", outputByteLimit: 9 },
    });
    expect(decodeTerminalReference(encodeTerminalRequest("kill", "s", "t").params)).toEqual({
      ok: true,
      value: { sessionId: "s", terminalId: "t" },
    });
  });
});

describe("Replies of an editor", () => {
  it("An unknown file or method falls back to the disk, and any other error fails", () => {
    for (const code of [-32002, -32601]) {
      expect(readFileTextReply(refused(code))).toEqual({ type: "unsupported" });
    }
    expect(readFileTextReply(refused(-32603)).type).toBe("failed");
    expect(readFileWrittenReply(refused(-32601))).toEqual({ type: "unsupported" });
    for (const code of [-32002, -32603, -32800]) {
      expect(readFileWrittenReply(refused(code)).type).toBe("failed");
    }
  });

  it("A file has at most 1 MiB of text", () => {
    const text = "x".repeat(1024 * 1024);
    expect(readFileTextReply(answered({ content: text }))).toEqual({
      type: "answered",
      value: text,
    });
    expect(readFileTextReply(answered({ content: `${text}x` }))).toMatchObject({
      type: "failed",
      failure: { message: expect.stringContaining("save the file") },
    });
    expect(readTerminalIdReply(answered({ terminalId: "t".repeat(1001) })).type).toBe("failed");
  });

  it("A write succeeds with any result that is not an error", () => {
    for (const result of [null, {}, { _meta: {} }, "done"]) {
      expect(readFileWrittenReply(answered(result))).toEqual({ type: "answered", value: true });
    }
  });

  it("The exit status and the output of a command are read", () => {
    expect(readTerminalExitReply(answered({ exitCode: 3 }))).toEqual({
      type: "answered",
      value: { code: 3, signal: null },
    });
    expect(readTerminalExitReply(answered({ exitCode: null, signal: "SIGKILL" }))).toEqual({
      type: "answered",
      value: { code: null, signal: "SIGKILL" },
    });
    const output = { output: "text", truncated: true };
    expect(readTerminalOutputReply(answered(output))).toEqual({
      type: "answered",
      value: { output: "text", truncated: true },
    });
  });

  it("Any JSON value is read without an exception", () => {
    const readers = [
      readFileTextReply,
      readFileWrittenReply,
      readTerminalIdReply,
      readTerminalOutputReply,
      readTerminalExitReply,
    ];
    const types = ["answered", "failed", "unsupported"];
    const any = fc.jsonValue() as fc.Arbitrary<JsonValue>;
    fc.assert(
      fc.property(fc.constantFrom(...readers), any, fc.integer(), (read, result, code) => {
        expect(types).toContain(read(answered(result)).type);
        expect(types).toContain(
          read({ ok: false, error: { code, message: "", data: result } }).type,
        );
      }),
    );
  });
});
