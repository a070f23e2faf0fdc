import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../data/json.ts";
import { STOCK_CLIENT } from "./client-profile.ts";
import { decodeNotification } from "./decode-notification.ts";
import { encodeInitializeResult } from "../encode/encode-results.ts";
import { decodeRequest, METHODS } from "./decode-request.ts";

function value(method: string, params?: JsonValue): unknown {
  const decoded = decodeRequest(method, params);
  return decoded.ok ? decoded.value : decoded.error.code;
}

describe("Client requests", () => {
  it("Initialize is accepted with missing, null and unknown fields [ACP-25]", () => {
    expect(value("initialize")).toEqual({
      type: "initialize",
      clientName: "ACP client",
      profile: STOCK_CLIENT,
    });
    expect(value("initialize", { clientInfo: null, clientCapabilities: null, more: 1 })).toEqual({
      type: "initialize",
      clientName: "ACP client",
      profile: STOCK_CLIENT,
    });
    expect(value("initialize", { clientInfo: { name: "zed", title: "Zed" } })).toEqual({
      type: "initialize",
      clientName: "Zed",
      profile: STOCK_CLIENT,
    });
  });

  it("Additional directories must be absolute paths [ACP-49]", () => {
    const cwd = "/work";
    const setup = { type: "new", workingDirectory: cwd, servers: [] };
    const additionalDirectories = ["/lib", "/srv/data"];
    expect(value("session/new", { cwd, additionalDirectories })).toEqual({
      ...setup,
      folders: additionalDirectories,
    });
    expect(value("session/new", { cwd, additionalDirectories: null })).toMatchObject(setup);
    const many = Array.from({ length: 65 }, (_, at) => `/${at}a`);
    for (const wrong of [["lib"], ["/lib", ""], "/lib", [1], ["/"], ["//"], many]) {
      for (const method of ["session/new", "session/load", "session/resume", "session/fork"]) {
        const params = { sessionId: "s", cwd, additionalDirectories: wrong };
        expect(decodeRequest(method, params)).toMatchObject({ ok: false, error: { code: -32602 } });
      }
    }
  });

  it("A new session without mcpServers has no MCP servers [ACP-40]", () => {
    const setup = { type: "new", workingDirectory: "/work", folders: [], servers: [] };
    expect(value("session/new", { cwd: "/work" })).toEqual(setup);
    expect(value("session/new", { cwd: "/work", mcpServers: [] })).toEqual(setup);
    const env = [{ name: "__proto__", value: "own" }];
    const program = { name: "git", command: "/bin/git", args: ["-a"], env };
    const address = { type: "http", name: "web", url: "https://a", headers: [] };
    const named = { cwd: "C:\\work", mcpServers: [program, address, { ...program, env: null }] };
    expect(value("session/new", named)).toEqual({
      type: "new",
      workingDirectory: "C:\\work",
      folders: [],
      servers: [
        { ...program, type: "stdio", env: Object.fromEntries([["__proto__", "own"]]) },
        { ...address, headers: {} },
        { ...program, type: "stdio", env: {} },
      ],
    });
  });

  it.each([
    ["a relative cwd [ACP-38]", "session/new", { cwd: "work", mcpServers: [] }],
    ["no cwd", "session/new", {}],
    ["params that are a string", "session/new", "x"],
    ["params that are an array", "session/new", []],
    ["mcpServers that are not a list", "session/new", { cwd: "/", mcpServers: {} }],
    ["no session to load", "session/load", { cwd: "/", mcpServers: [] }],
    ["no session to prompt", "session/prompt", { prompt: [{ type: "text", text: "a" }] }],
    ["no prompt", "session/prompt", { sessionId: "s" }],
    [
      "a budget of no tokens",
      "session/prompt",
      {
        sessionId: "s",
        prompt: [{ type: "text", text: "a" }],
        _meta: { harn: { budget: { tokens: 0 } } },
      },
    ],
    ["an empty prompt", "session/prompt", { sessionId: "s", prompt: [] }],
    ["a block that is not an object", "session/prompt", { sessionId: "s", prompt: ["a"] }],
    ["a text block without text", "session/prompt", { sessionId: "s", prompt: [{ type: "text" }] }],
    [
      "an audio block, which was not offered [ACP-65]",
      "session/prompt",
      { sessionId: "s", prompt: [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }] },
    ],
  ])("A request with %s is rejected", (_, method, params) => {
    expect(value(method, params)).toBe(-32602);
  });

  it("A prompt carries the budget of its turn", () => {
    const prompt = [{ type: "text", text: "a" }];
    const harn = { budget: { tokens: 500, toolCalls: 2 } };
    expect(value("session/prompt", { sessionId: "s", prompt, _meta: { harn } })).toMatchObject({
      command: { options: { budget: { tokens: 500, toolCalls: 2 } } },
    });
  });

  it.each(["session/archive", "constructor", "__proto__", ""])(
    "The unknown method %j is rejected [ACP-7]",
    (method) => {
      expect(value(method, {})).toBe(-32601);
    },
  );
});

describe("Bridge methods", () => {
  it("Every bridge method also has a name with the _harn/ prefix [W-25] [ACP-137]", () => {
    const standard =
      /^(?:initialize|authenticate|session\/(?:new|load|resume|fork|list|close|delete|prompt|cancel|set_\w+))$/;
    const deprecated = /^(?:session\/input|user_message|agent\/user_message)$/;
    const own = [...METHODS.keys()].filter(
      (name) => !name.startsWith("_") && !standard.test(name) && !deprecated.test(name),
    );
    expect(own).toContain("session/attach");
    for (const name of own) {
      expect([name, METHODS.get(`_harn/${name}`)]).toEqual([name, METHODS.get(name)]);
    }
  });
});

describe("Steering", () => {
  it("Steering is offered only if a method for it exists [ACP-30]", () => {
    const isThere = METHODS.has("_session/steering") || METHODS.has("session/inject");
    const offered = JSON.stringify(encodeInitializeResult("1"));
    expect(offered.includes('"steering":{"supported":true}')).toBe(isThere);
    expect(offered.includes("steering")).toBe(isThere);
    expect(value("_session/steering", { sessionId: "s" }) !== -32601).toBe(isThere);
  });
});

describe("Client notifications", () => {
  it("A cancel notification is decoded and an unknown notification is ignored", () => {
    expect(decodeNotification("session/cancel", { sessionId: "s" })).toEqual({
      type: "cancel",
      sessionId: "s",
    });
    expect(decodeNotification("session/cancel", {})).toBeUndefined();
    expect(decodeNotification("session/cancel", null)).toBeUndefined();
    expect(decodeNotification("_vendor/thing", {})).toBeUndefined();
  });
});
