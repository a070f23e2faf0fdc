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

describe("a key", () => {
  const options = { host: HOST, keys: KEYS, token: TOKEN };

  it("is its principal's, given as it is or by its digest", () => {
    expect(callerOf(options, ADA)).toEqual({ id: "ada", rights: ["prompt"] });
    expect(callerOf(options, BOB)).toEqual({
      id: "bob",
      rights: ["prompt", "approve"],
      agents: ["demo"],
    });
  });

  it.each([
    ["nobody's", "sk-key-of-nobody-22"],
    ["the beginning of one", ADA.slice(0, -1)],
    ["the digest of one", digestText(BOB)],
    ["none", undefined],
  ])("is refused when it is %s", (_, bearer) => {
    expect(thrown(() => callerOf(options, bearer))).toEqual(unknown);
  });

  it("is refused when it comes by another scheme", () => {
    const basic: [string, string][] = [["authorization", `Basic ${ADA}`]];
    expect(thrown(() => callerOf(options, undefined, basic))).toEqual(unknown);
  });

  it("is nowhere in what is kept", () => {
    const kept: unknown[] = [];
    const access = createAccess(options);
    for (const value of Object.values(access)) kept.push(String(value));
    expect(
      JSON.stringify([kept, thrown(() => callerOf(options, "sk-wrong-wrong-wrong"))]),
    ).not.toMatch(/sk-key|sk-wrong/);
  });

  it("tells the log whose it is", () => {
    const callers: string[] = [];
    const headers = [["authorization", `bearer ${ADA}`]] as const;
    createAccess(options).authenticate({ headers, onCaller: (id) => callers.push(id) });
    expect(callers).toEqual(["ada"]);
  });
});

describe("without keys", () => {
  it("programs of this machine may prompt, whatever key they send", () => {
    const local = { id: "local", rights: ["prompt"] };
    expect(callerOf({ host: HOST })).toEqual(local);
    // Clients of OpenAI always send one.
    expect(callerOf({ host: HOST, token: TOKEN }, "unused")).toEqual(local);
  });

  it("a key that is sent has to be the token where only known ones are wanted", () => {
    const options = { host: HOST, token: TOKEN, knownKeysOnly: true };
    expect(callerOf(options)).toEqual({ id: "local", rights: ["prompt"] });
    expect(thrown(() => callerOf(options, "undefined"))).toEqual(unknown);
    expect(callerOf(options, TOKEN).rights).toContain("control");
  });

  it("the token of this run may do everything", () => {
    expect(callerOf({ host: HOST, token: TOKEN }, TOKEN)).toEqual({
      id: "local",
      rights: ["prompt", "approve", "control"],
    });
  });

  it("nobody but the token is let in where that is wanted", () => {
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
  ])("a server that others reach does not start: %s %j", (host, more) => {
    expect(thrown(() => createAccess({ host, ...more }))).toMatchObject({
      code: "invalid_option",
      message: expect.stringContaining(host),
    });
  });

  it("a server that others reach starts with keys", () => {
    expect(callerOf({ host: "0.0.0.0", keys: KEYS }, ADA).id).toBe("ada");
  });
});

describe("a page of another site", () => {
  const cross: [string, string] = ["sec-fetch-site", "cross-site"];

  it("cannot call by what browsers send without an origin", () => {
    expect(thrown(() => callerOf({ host: HOST }, undefined, [cross]))).toMatchObject({
      status: 403,
    });
  });

  it("can when the server let its origin in", () => {
    const origin: [string, string] = ["origin", "https://app.example"];
    expect(callerOf({ host: HOST }, undefined, [cross, origin]).id).toBe("local");
  });
});

it.each([
  ["a short key", [{ name: "ada", key: "short" }]],
  ["a key with spaces", [{ name: "ada", key: "a key with spaces in it" }]],
  ["no key", [{ name: "ada" }]],
  ["two kinds of key", [{ name: "ada", key: ADA, sha256: digestText(ADA) }]],
  ["a digest that is none", [{ name: "ada", sha256: "abc" }]],
  ["a name that is none", [{ name: "a b", key: ADA }]],
  ["the name of this machine's user", [{ name: "local", key: ADA }]],
  [
    "one key of two",
    [
      { name: "ada", key: ADA },
      { name: "bob", sha256: digestText(ADA) },
    ],
  ],
])("refuses %s, and does not show it", (_, keys) => {
  const error = thrown(() => createAccess({ host: HOST, keys }));
  expect(error).toMatchObject({ code: "invalid_option", details: { path: "keys" } });
  expect(String(error)).not.toMatch(/short|spaces|sk-/);
});

describe("a session", () => {
  const session = { principal: "ada", agent: "demo" };

  it.each([
    [{ id: "ada", rights: [] }, true],
    [{ id: "ada", rights: [], agents: ["demo", "other"] }, true],
    [{ id: "ada", rights: [], agents: ["other"] }, false],
    [{ id: "ada", rights: [], agents: [] }, false],
    [{ id: "bob", rights: ["prompt", "approve", "control"] as const }, false],
  ])("may be used by its own principal only: %j is %j [OR-36]", (caller, may) => {
    expect(canUseSession(caller, session)).toBe(may);
  });

  it("is opened with agents that the caller may use", () => {
    expect(canUseAgent({ id: "x", rights: [], agents: ["demo"] }, "other")).toBe(false);
  });

  it("needs the right to what is asked", () => {
    const caller: Caller = { id: "ada", rights: ["prompt"] };
    requireRight(caller, "prompt", "Prompting");
    expect(thrown(() => requireRight(caller, "approve", "Approving"))).toMatchObject({
      status: 403,
      code: "access_denied",
    });
  });
});
