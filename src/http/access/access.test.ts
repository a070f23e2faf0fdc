import { describe, expect, it } from "vitest";
import { createAccess, type AccessOptions } from "./access.ts";
import { canUseSession, canUseAgent, requireRight, type Caller } from "./caller.ts";
import { digestText } from "../../platform/digest.ts";

const ADA = "sk-key-of-ada-0000";
const BOB = "sk-key-of-bob-1111";
const TOKEN = "the-token-of-this-run";
const HOST = "127.0.0.1";

const KEYS = [
  { name: "ada", key: ADA },
  {
    name: "bob",
    sha256: digestText(BOB).toUpperCase(),
    rights: ["prompt", "approve"],
    agents: ["demo"],
  },
] as const;

function callerOf(options: AccessOptions, bearer?: string, more: [string, string][] = []): Caller {
  const authorization: [string, string][] =
    bearer === undefined ? [] : [["authorization", `Bearer ${bearer}`]];
  return createAccess(options).authenticate({ headers: [...authorization, ...more] });
}

const unknown = expect.objectContaining({
  status: 401,
  code: "unauthorized",
  reason: "invalid_api_key",
  headers: { "www-authenticate": 'Bearer realm="spanline"' },
});

function thrown(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

describe("Access keys", () => {
  const options = { host: HOST, keys: KEYS, token: TOKEN };

  it("A key configured as text or as a digest identifies its principal", () => {
    expect(callerOf(options, ADA)).toEqual({ id: "ada", rights: ["prompt"] });
    expect(callerOf(options, BOB)).toEqual({
      id: "bob",
      rights: ["prompt", "approve"],
      agents: ["demo"],
    });
  });

  it.each([
    ["unknown", "sk-key-of-nobody-22"],
    ["a prefix of a valid key", ADA.slice(0, -1)],
    ["the digest of a valid key", digestText(BOB)],
    ["missing", undefined],
  ])("A key that is %s is refused", (_, bearer) => {
    expect(thrown(() => callerOf(options, bearer))).toEqual(unknown);
  });

  it("A key sent with another authorization scheme is refused", () => {
    const basic: [string, string][] = [["authorization", `Basic ${ADA}`]];
    expect(thrown(() => callerOf(options, undefined, basic))).toEqual(unknown);
  });

  it("No key appears in stored values or in errors", () => {
    const caughtErrors: unknown[] = [];
    const access = createAccess(options);
    for (const value of Object.values(access)) caughtErrors.push(String(value));
    expect(
      JSON.stringify([caughtErrors, thrown(() => callerOf(options, "sk-wrong-wrong-wrong"))]),
    ).not.toMatch(/sk-key|sk-wrong/);
  });

  it("The caller's name is reported for the access log", () => {
    const callers: string[] = [];
    const headers = [["authorization", `bearer ${ADA}`]] as const;
    createAccess(options).authenticate({ headers, onCaller: (id) => callers.push(id) });
    expect(callers).toEqual(["ada"]);
  });
});

describe("Servers without keys", () => {
  it("Programs of this machine may prompt, whatever key they send", () => {
    const local = { id: "local", rights: ["prompt"] };
    expect(callerOf({ host: HOST })).toEqual(local);
    // OpenAI's clients always send a key.
    expect(callerOf({ host: HOST, token: TOKEN }, "unused")).toEqual(local);
  });

  it("With knownKeysOnly, a sent key must be the token", () => {
    const options = { host: HOST, token: TOKEN, knownKeysOnly: true };
    expect(callerOf(options)).toEqual({ id: "local", rights: ["prompt"] });
    expect(thrown(() => callerOf(options, "undefined"))).toEqual(unknown);
    expect(callerOf(options, TOKEN).rights).toContain("control");
  });

  it("The token of this run has all rights", () => {
    expect(callerOf({ host: HOST, token: TOKEN }, TOKEN)).toEqual({
      id: "local",
      rights: ["prompt", "approve", "control"],
    });
  });

  it("With keyless false, only the token is accepted", () => {
    const options = { host: HOST, token: TOKEN, keyless: false };
    expect(thrown(() => callerOf(options))).toEqual(unknown);
    expect(thrown(() => callerOf(options, "unused"))).toEqual(unknown);
    expect(callerOf(options, TOKEN).id).toBe("local");
  });

  it.each([
    ["0.0.0.0", {}],
    ["::", { token: TOKEN }],
    ["192.168.0.7", { keyless: false }],
    ["192.168.0.7", { keys: KEYS, keyless: true }],
  ])("A keyless server reachable from other machines does not start: %s %j", (host, more) => {
    expect(thrown(() => createAccess({ host, ...more }))).toMatchObject({
      code: "invalid_option",
      message: expect.stringContaining(host),
    });
  });

  it("A server reachable from other machines starts with keys", () => {
    expect(callerOf({ host: "0.0.0.0", keys: KEYS }, ADA).id).toBe("ada");
  });
});

describe("Requests from pages of another site", () => {
  const cross: [string, string] = ["sec-fetch-site", "cross-site"];

  it("A cross-site request without an Origin header is refused", () => {
    expect(thrown(() => callerOf({ host: HOST }, undefined, [cross]))).toMatchObject({
      status: 403,
    });
  });

  it("A cross-site request from an allowed origin is accepted", () => {
    const origin: [string, string] = ["origin", "https://app.example"];
    expect(callerOf({ host: HOST }, undefined, [cross, origin]).id).toBe("local");
  });
});

it.each([
  ["a key that is too short", [{ name: "ada", key: "short" }]],
  ["a key with spaces", [{ name: "ada", key: "a key with spaces in it" }]],
  ["no key", [{ name: "ada" }]],
  ["two kinds of key", [{ name: "ada", key: ADA, sha256: digestText(ADA) }]],
  ["an invalid digest", [{ name: "ada", sha256: "abc" }]],
  ["an invalid name", [{ name: "a b", key: ADA }]],
  ['the reserved name "local"', [{ name: "local", key: ADA }]],
  [
    "the same key for two names",
    [
      { name: "ada", key: ADA },
      { name: "bob", sha256: digestText(ADA) },
    ],
  ],
])("A configuration with %s is refused, and the key is not shown", (_, keys) => {
  const error = thrown(() => createAccess({ host: HOST, keys }));
  expect(error).toMatchObject({ code: "invalid_option", details: { path: "keys" } });
  expect(String(error)).not.toMatch(/short|spaces|sk-/);
});

describe("Access to sessions", () => {
  const session = { principal: "ada", agent: "demo" };

  it.each([
    [{ id: "ada", rights: [] }, true],
    [{ id: "ada", rights: [], agents: ["demo", "other"] }, true],
    [{ id: "ada", rights: [], agents: ["other"] }, false],
    [{ id: "ada", rights: [], agents: [] }, false],
    [{ id: "bob", rights: ["prompt", "approve", "control"] as const }, false],
  ])("A session may be used by its own principal only: %j is %j [OR-36]", (caller, may) => {
    expect(canUseSession(caller, session)).toBe(may);
  });

  it("A caller may not open a session with an agent outside its list", () => {
    expect(canUseAgent({ id: "x", rights: [], agents: ["demo"] }, "other")).toBe(false);
  });

  it("An action without the matching right is refused with 403", () => {
    const caller: Caller = { id: "ada", rights: ["prompt"] };
    requireRight(caller, "prompt", "Prompting");
    expect(thrown(() => requireRight(caller, "approve", "Approving"))).toMatchObject({
      status: 403,
      code: "access_denied",
    });
  });
});
