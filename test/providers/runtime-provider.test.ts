import { describe, expect, it } from "vitest";
import { runtimeProvider } from "../../src/providers/agentcore/runtime-provider.ts";
import { startPeer, type Peer } from "../support/server/scripted-peer.ts";
import {
  gather,
  HARNESS_ARN,
  TEST_KEYS,
  PROMPT,
  catchRejection,
  readTurn,
} from "../support/session/provider-session.ts";

const RUNTIME = "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/agent-a1b2c3d4e5";
const { signal } = new AbortController();

function answering(contentType: string, body: string): Promise<Peer> {
  return startPeer((response) => {
    response.writeHead(200, { "content-type": contentType, "x-amzn-requestid": "request-1" });
    response.end(body);
  });
}

function sessionOn(url: string, options: object = {}) {
  return runtimeProvider({
    runtimeArn: RUNTIME,
    endpoint: url,
    credentials: TEST_KEYS,
    ...options,
  });
}

describe("Requests to a runtime", () => {
  it("The ARN in the path is escaped once, and session and payload are sent [AC-51]", async () => {
    const peer = await answering("application/json", `{"result":"Hello"}`);
    const session = sessionOn(peer.url, { qualifier: "prod", userId: "ada" }).open({
      sessionId: "s".repeat(33),
    });
    const call = await session.invoke(
      { type: "prompt", texts: ["One.", "Two."] },
      { signal, trace: { baggage: "a=b" } },
    );
    const turn = await readTurn(call);
    expect([turn.text, turn.end?.outcome, call.requestId]).toEqual([
      "Hello",
      "completed",
      "request-1",
    ]);
    expect(peer.requests[0]).toMatchObject({
      method: "POST",
      url: `/runtimes/${encodeURIComponent(RUNTIME)}/invocations?qualifier=prod`,
      headers: {
        "content-type": "application/json",
        accept: "text/event-stream, application/json",
        "x-amzn-bedrock-agentcore-runtime-session-id": "s".repeat(33),
        "x-amzn-bedrock-agentcore-runtime-user-id": "ada",
        baggage: "a=b",
      },
    });
    expect(String(peer.requests[0]?.body)).toBe(`{"prompt":"One.\\n\\nTwo."}`);
  });

  it("An event stream is parsed, and an error inside it is kept with its phase [AC-80]", async () => {
    const lines = ['"Hel"', '"lo"', '{"error":"Boom","error_type":"ValueError","message":"x"}'];
    const body = lines.map((line) => `data: ${line}\n\n`).join("");
    const peer = await answering("text/event-stream; charset=utf-8", body);
    const turn = await readTurn(await sessionOn(peer.url).open().invoke(PROMPT, { signal }));
    expect(turn).toMatchObject({
      text: "Hello",
      end: {
        outcome: "failed",
        failure: {
          code: "stream_exception",
          message: "ValueError: Boom",
          details: { phase: "stream", requestId: "request-1" },
        },
      },
    });
  });

  it("A body with only a message is the app's answer if the status is 200 [AC-83]", async () => {
    const peer = await answering("application/json", `{"message":"Hello"}`);
    const events = await gather(await sessionOn(peer.url).open().invoke(PROMPT, { signal }));
    expect(events).toMatchObject([
      { type: "activity", kind: "structured-result", raw: { message: "Hello" } },
      { type: "end", outcome: "completed" },
    ]);
  });

  it("A payload function defines the payload", async () => {
    const peer = await answering("application/json", `"ok"`);
    const session = sessionOn(peer.url, {
      payload: (input: { readonly texts: readonly string[] }) => ({ input: { text: input.texts } }),
    }).open();
    await gather(await session.invoke(PROMPT, { signal }));
    expect(JSON.parse(String(peer.requests[0]?.body))).toEqual({ input: { text: ["Hi"] } });
  });

  it("Invalid requests are refused before anything is sent [AC-50]", async () => {
    expect(() => sessionOn("http://127.0.0.1:9", { runtimeArn: "agent" })).toThrow(
      "runtimeArn is ",
    );
    const peer = await answering("application/json", "1");
    const session = sessionOn(peer.url).open();
    const long = { traceparent: "x".repeat(129) };
    expect(await catchRejection(session.invoke(PROMPT, { signal, trace: long }))).toMatchObject({
      details: { path: "trace.traceparent" },
    });
    expect(await catchRejection(session.runCommand("", { signal }))).toMatchObject({
      details: { path: "command" },
    });
    expect(peer.requests).toEqual([]);
  });

  it("Tools and results are refused without a payload function for them", async () => {
    const peer = await answering("application/json", "1");
    const tools = [{ name: "look", description: "Looks", schema: { type: "object" } }];
    const refused = sessionOn(peer.url).open().invoke(PROMPT, { signal, tools });
    expect(await catchRejection(refused)).toMatchObject({ details: { path: "payload" } });
    expect(() => sessionOn(peer.url, { toolsRunBy: "caller" })).toThrow("set `payload`");
    expect(() => sessionOn(peer.url, { runtimeArn: HARNESS_ARN })).toThrow("runtimeArn is ");
    expect(peer.requests).toEqual([]);
  });

  it("A session is stopped only on request [AC-96]", async () => {
    const peer = await answering("application/json", `"ok"`);
    const session = sessionOn(peer.url).open();
    for await (const _ of await session.invoke(PROMPT, { signal })) break;
    expect(peer.requests).toHaveLength(1);
    await session.stop({ signal });
    expect(peer.requests[1]).toMatchObject({
      method: "POST",
      url: `/runtimes/${encodeURIComponent(RUNTIME)}/stopruntimesession`,
      headers: { "x-amzn-bedrock-agentcore-runtime-session-id": session.id },
    });
    const { clientToken } = JSON.parse(String(peer.requests[1]?.body));
    expect(clientToken).toMatch(/^(?=.{33,256}$)[a-zA-Z0-9](?:-*[a-zA-Z0-9])*$/);
  });
});
