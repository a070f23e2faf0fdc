import { describe, expect, it } from "vitest";
import { SpanlineError } from "../domain/errors.ts";
import { readConfig } from "./read-config.ts";
import { listKeyFiles } from "./read-serve.ts";
import { findServeTrustReason } from "./trust/trust-reasons.ts";

function readWith(serve: unknown) {
  const provider = { type: "local", model: "ollama:qwen3" };
  return readConfig({ agents: { coder: { provider }, reviewer: { provider } }, serve }).serve;
}

function complaintAbout(serve: unknown): { readonly path: unknown; readonly message: string } {
  try {
    readWith(serve);
  } catch (error) {
    if (error instanceof SpanlineError)
      return { path: error.details["path"], message: error.message };
    throw error;
  }
  throw new Error("It was accepted");
}

describe("The serve section of a configuration", () => {
  it("All settings of the serve section are parsed", () => {
    const serve = readWith({
      host: "0.0.0.0",
      port: 8080,
      keys: [
        { name: "ada", key: { env: "ADA_KEY" }, rights: ["approve", "prompt"], agents: ["coder"] },
        { name: "evaluation", sha256: "ab".repeat(32), trace: "pairs" },
      ],
      allowedHosts: ["agents.example"],
      allowedOrigins: ["https://app.example"],
      rates: { requestsPerMinute: 60, turns: 4 },
      limits: { bodyBytes: 1000 },
      trace: "mcp",
      foreignHistory: "reject",
      onDisconnect: "finish",
      statelessAgents: ["reviewer"],
      adoptSessions: true,
      queueSeconds: 5,
      approvalSeconds: 0.5,
      deterministic: true,
    });
    expect(serve).toEqual({
      host: "0.0.0.0",
      port: 8080,
      keys: [
        {
          name: "ada",
          key: { name: "key", path: "serve.keys[0].key", source: { env: "ADA_KEY" } },
          rights: ["prompt", "approve"],
          agents: ["coder"],
        },
        { name: "evaluation", sha256: "ab".repeat(32), trace: "pairs" },
      ],
      allowedHosts: ["agents.example"],
      allowedOrigins: ["https://app.example"],
      rates: { requestsPerMinute: 60, turns: 4 },
      limits: { bodyBytes: 1000 },
      settings: {
        trace: "mcp",
        foreignHistory: "reject",
        onDisconnect: "finish",
        statelessAgents: ["reviewer"],
        adoptSessions: true,
        queueMs: 5000,
        approvalMs: 500,
      },
      deterministic: true,
      webhooks: [],
      a2a: {},
    });
  });

  it("The agent card is parsed with the names of its agents", () => {
    const a2a = { name: "Helpdesk", description: "Answers", agents: ["reviewer"] };
    expect(readWith({ a2a }).a2a).toEqual(a2a);
    expect(readWith({}).a2a).toEqual({});
  });

  it("Push notifications are parsed, and settings for them need trust unless they are disabled", () => {
    const sending = readWith({ a2a: { push: { allowPrivate: true } } });
    expect(sending.a2a).toEqual({ push: { allowPrivate: true } });
    expect(findServeTrustReason(sending)).toContain("to other servers");
    expect(findServeTrustReason(readWith({ a2a: { push: { enabled: false } } }))).toBeUndefined();
  });

  it("Webhooks are parsed, with a reference to their secret", () => {
    const hook = { url: "https://hooks.example/a", secret: { env: "HOOK" } };
    const local = {
      url: "http://127.0.0.1:9/",
      secret: { file: "hook.txt" },
      allowPrivate: true,
      details: true,
      events: ["request.opened"],
    };
    const serve = readWith({ publicUrl: "https://agents.example/", webhooks: [hook, local] });
    expect(serve.publicUrl).toBe("https://agents.example");
    const path = "serve.webhooks[0].secret";
    expect(serve.webhooks).toEqual([
      { url: hook.url, secret: { name: "secret", path, source: { env: "HOOK" } } },
      { ...local, secret: { name: "secret", path: path.replace("0", "1"), source: local.secret } },
    ]);
    expect(listKeyFiles(serve)).toEqual(["hook.txt"]);
    expect(findServeTrustReason(serve)).toContain("to other servers");
  });

  it("Allowed hosts are normalized to the form in requests", () => {
    const allowedHosts = ["Agents.Example", "192.0.2.7", "FD00::2", "[fd00::3]"];
    const read = ["agents.example", "192.0.2.7", "[fd00::2]", "[fd00::3]"];
    expect(readWith({ allowedHosts }).allowedHosts).toEqual(read);
  });

  it.each<[path: string, serve: unknown, expected: string]>([
    ["serve", 7, "expected an object"],
    ["serve.hots", { hots: "::1" }, 'did you mean "host"?'],
    ["serve.port", { port: 70_000 }, "expected a whole number from 0 to 65535"],
    ["serve.port", { port: "80" }, "expected a whole number from 0 to 65535"],
    ["serve.keys", { keys: {} }, "expected an array of keys"],
    ["serve.keys[0].nam", { keys: [{ nam: "ada" }] }, 'did you mean "name"?'],
    ["serve.keys[0].name", { keys: [{}] }, "expected the name of the owner"],
    ["serve.keys[0]", { keys: [{ name: "ada" }] }, "expected either key"],
    ["serve.keys[0].key", { keys: [{ name: "ada", key: "sk-1234" }] }, "looks like a secret"],
    [
      "serve.keys[0].rights[0]",
      { keys: [{ name: "ada", sha256: "ab", rights: ["promt"] }] },
      'did you mean "prompt"?',
    ],
    [
      "serve.keys[0].agents[0]",
      { keys: [{ name: "ada", sha256: "ab", agents: ["codr"] }] },
      'did you mean "coder"?',
    ],
    [
      "serve.keys[0].trace",
      { keys: [{ name: "ada", sha256: "ab", trace: "pair" }] },
      "expected pairs, mcp, extension or none",
    ],
    ["serve.publicUrl", { publicUrl: "agents.example" }, 'such as "https://agents.example"'],
    [
      "serve.webhooks[0].url",
      { webhooks: [{ url: "http://x.example", secret: { env: "S" } }] },
      "https",
    ],
    [
      "serve.webhooks[0].url",
      { webhooks: [{ url: "https://a:b@x.example", secret: { env: "S" } }] },
      "https",
    ],
    [
      "serve.webhooks[0].secret",
      { webhooks: [{ url: "https://x.example", secret: "abc" }] },
      "looks like a secret",
    ],
    [
      "serve.webhooks[1].url",
      { webhooks: [1, 2].map(() => ({ url: "https://x.example", secret: { env: "S" } })) },
      "is the URL of another webhook",
    ],
    ["serve.a2a.agents[0]", { a2a: { agents: ["coder2"] } }, 'did you mean "coder"?'],
    ["serve.a2a.push.private", { a2a: { push: { private: true } } }, "allowPrivate"],
    ["serve.a2a.nme", { a2a: { nme: "x" } }, 'did you mean "name"?'],
    ["serve.statelessAgents[0]", { statelessAgents: ["x"] }, "expected coder or reviewer"],
    ["serve.allowedHosts[0]", { allowedHosts: ["vm:4805"] }, "without a scheme or a port"],
    ["serve.allowedHosts[0]", { allowedHosts: ["[fd00::2]:80"] }, "without a scheme or a port"],
    ["serve.allowedHosts[1]", { allowedHosts: ["vm", "http://x"] }, 'such as "agents.example"'],
    ["serve.allowedHosts[0]", { allowedHosts: ["*.example"] }, 'such as "agents.example"'],
    ["serve.allowedOrigins[0]", { allowedOrigins: ["https://a.example/"] }, "without a path"],
    ["serve.rates.turns", { rates: { turns: 0 } }, "expected a whole number, at least 1"],
    ["serve.limits.body", { limits: { body: 1 } }, 'did you mean "bodyBytes"?'],
    ["serve.trace", { trace: "all" }, "expected pairs, mcp, extension or none"],
    ["serve.foreignHistory", { foreignHistory: true }, "expected replay, reject or ignore"],
    ["serve.onDisconnect", { onDisconnect: "stop" }, "expected cancel or finish"],
    ["serve.queueSeconds", { queueSeconds: 0 }, "expected a number above 0"],
    ["serve.adoptSessions", { adoptSessions: 1 }, "expected true or false"],
    ["serve.deterministic", { deterministic: "yes" }, "expected true or false"],
  ])(
    "An invalid setting is refused with its path, %s, and the expected value: %j",
    (path, serve, expected) => {
      const complaint = complaintAbout(serve);
      expect(complaint.path).toBe(path);
      expect(complaint.message).toContain(path);
      expect(complaint.message).toContain(expected);
    },
  );
});
