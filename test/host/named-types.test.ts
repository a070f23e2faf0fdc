import { describe, expect, it } from "vitest";
import {
  createHost,
  type RequestContext,
  type Awaitable,
  type ClientRole,
  type Host,
  type McpServer,
  type ReadableInput,
  type RecordLimits,
  type Report,
  type RpcOutcome,
  type RpcRequest,
  type SessionLocation,
  type WritableOutput,
} from "../../src/host/index.ts";

/** Wraps a host, as a program would with the public entry alone. */
function audited(host: Host, onMethod: (method: string) => Awaitable<void>): Host {
  return {
    capabilities: host.capabilities,
    async answer(request: RpcRequest, context: RequestContext): Promise<RpcOutcome> {
      await onMethod(request.method);
      return host.answer(request, context);
    },
  };
}

describe("Types of the host entry", () => {
  it("The entry exports the types of all parameters and results", async () => {
    const notes: string[] = [];
    const report: Report = (message) => void notes.push(message);
    const records: Partial<RecordLimits> = { toolCalls: 10 };
    const host = audited(createHost({ report, records }), (method) => void notes.push(method));
    const request: RpcRequest = { type: "request", id: 1, method: "of/tomorrow", params: {} };
    const { signal } = new AbortController();
    const outcome = await host.answer(request, { connectionId: "c", signal });
    expect(outcome).toMatchObject({ ok: false, error: { code: -32601 } });
    expect(notes).toEqual(["of/tomorrow"]);
  });

  it("The types accept the values of a program", () => {
    const mode: ClientRole = "observer";
    const server: McpServer = { name: "files", command: "files" };
    const place: SessionLocation = {
      workingDirectory: "/",
      folders: ["/library"],
      servers: [server],
    };
    const input: ReadableInput = new ReadableStream<Uint8Array>();
    const output: WritableOutput = new WritableStream<Uint8Array>();
    expect([mode, place.servers, typeof input, typeof output]).toEqual([
      "observer",
      [server],
      "object",
      "object",
    ]);
  });
});
