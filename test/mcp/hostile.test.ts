import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { StdioServerSettings } from "../../src/tools/mcp/mcp-server-settings.ts";
import { toModelName } from "../../src/tools/mcp/model-name.ts";
import { bundleInto } from "../support/bundle-program.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { eventually } from "../support/eventually.ts";
import { openMcpWorld, createToolContext, type McpWorld } from "../support/server/mcp-world.ts";
import { expectGone, isAlive } from "../support/processes.ts";
import { allowLongTests } from "../support/test-depth.ts";

allowLongTests();

const folder = realpathSync(mkdtempSync(join(tmpdir(), "spanline-mcp-")));
let program = "";

beforeAll(async () => {
  program = await bundleInto(folder, "hostile-server.ts");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function hostile(mode = "", more: Partial<StdioServerSettings> = {}): StdioServerSettings {
  const args = [program, mode];
  return { type: "stdio", name: "h", command: process.execPath, args, ...more };
}

const failureOf = (world: McpWorld) => world.status()[0]?.failure;
const namesOf = (world: McpWorld) => world.tools().map(({ spec }) => spec.name);
const messagesOf = (world: McpWorld) => world.reports.map(({ message }) => message);

describe("Servers that cannot be used", () => {
  it("A server that exits does not fail the session, and the reason is reported [ACP-47]", async () => {
    const world = await openMcpWorld([hostile("exit"), hostile("", { name: "good" })]);
    expect(namesOf(world)).toContain("good__echo");
    expect(messagesOf(world)).toEqual([
      "The MCP server h ended with code 3; the end of its stderr: Cannot open the database",
    ]);
    expect(world.reports[0]?.toFailure()).toMatchObject({
      code: "mcp_server_failed",
      details: { server: "h", problem: "exited", exitCode: 3 },
    });
  });

  it("A failure report does not contain secrets", async () => {
    const env = { DATABASE: "postgres://me:s3cret@host" };
    const world = await openMcpWorld([hostile("exit", { env })]);
    expect(JSON.stringify(world.reports.map((failure) => failure.toFailure()))).toContain(
      "Cannot open the database [redacted]",
    );
    expect(JSON.stringify([world.reports, world.status()])).not.toContain("s3cret");
  });

  it("A failure report does not contain parts of a truncated secret", async () => {
    const secret = "sk-4f9a8b7c6d5e4f3a2b1c";
    const script = `printf '%s' "${"x".repeat(20)}$LONG" >&2; exit 3`;
    const LONG = `${secret}${"y".repeat(985)}`;
    const env = { LONG, API_TOKEN: secret };
    const world = await openMcpWorld([
      hostile("", { command: "/bin/sh", args: ["-c", script], env }),
    ]);
    const jsonText = JSON.stringify([messagesOf(world), world.reports[0]?.toFailure()]);
    expect(jsonText).not.toMatch(/4f3a|2b1c/);
  });

  it("A failed server is started again with increasing delays", async () => {
    const file = join(folder, "tries");
    const script = `echo x >> ${file}; exit 3`;
    const random = (): number => 1;
    const world = await openMcpWorld([hostile("", { command: "/bin/sh", args: ["-c", script] })], {
      random,
    });
    const tries = (): number => readFileSync(file, "utf8").length / 2;
    for (const [made, wait] of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000].entries()) {
      await eventually(() => {
        const [{ state } = { state: "" }] = world.status();
        expect([tries(), state, world.clock.pending]).toEqual([made + 1, "waiting", 1]);
      });
      world.clock.advance(wait - 1);
      expect(world.clock.pending).toBe(1);
      world.clock.advance(1);
    }
    expect(messagesOf(world)).toHaveLength(1);
  });

  it.each([
    [{ command: "no-such-program" }, "command not found: no-such-program in PATH. Fix: install it"],
    [{ command: "./none", cwd: folder }, `command not found: ./none in ${folder}`],
    [{ cwd: "/not/there" }, "cannot be started: its working directory /not/there is not a folder"],
  ])("The reason for a failed start is reported: %j", async (more, words) => {
    expect(failureOf(await openMcpWorld([hostile("", more)]))?.message).toContain(words);
  });

  it("A server that does not initialize in time is stopped [ACP-48]", async () => {
    const file = join(folder, "silent.pid");
    const clock = createFakeClock();
    const opened = vi.fn<(world: McpWorld) => McpWorld>((world) => world);
    const settings = hostile("silent", { env: { PID_FILE: file } });
    const opening = openMcpWorld([settings], { clock }).then(opened);
    const pid = await eventually(() => {
      const written = Number(readFileSync(file, "utf8"));
      expect(written).toBeGreaterThan(0);
      return written;
    });
    clock.advance(19_999);
    await Promise.resolve();
    expect(opened).not.toHaveBeenCalled();
    clock.advance(1);
    expect(failureOf(await opening)?.message).toBe(
      "The MCP server h was not ready within 20 seconds. Fix: raise its connectTimeoutMs if it needs longer; its stderr is empty",
    );
    await expectGone(pid);
  });

  it("A server with an invalid tool list or an endless message is stopped", async () => {
    const noList = await openMcpWorld([hostile("no-list")]);
    expect(failureOf(noList)?.message).toContain("did not respond with a list of tools");
    const endless = await openMcpWorld([hostile("endless")]);
    expect(failureOf(endless)?.message).toContain("sent a message of more than 10485760 bytes");
  });
});

describe("Tool lists of servers", () => {
  it("A tool list is read in pages", async () => {
    expect(namesOf(await openMcpWorld([hostile("pages")]))).toEqual([
      "h__page_0",
      "h__page_1",
      "h__page_2",
      "h__page_3",
    ]);
  });

  it("A tool list whose pages form a cycle ends there", async () => {
    const world = await openMcpWorld([hostile("circle")]);
    expect(namesOf(world)).toEqual(["h__tundefined", "h__tagain"]);
    expect(messagesOf(world).join()).toContain("its tool list does not end after 2 pages");
  });

  it("At most 512 of 10,000 tools are used, and the user is notified", async () => {
    const world = await openMcpWorld([hostile("many")]);
    expect(world.tools().length).toBe(512);
    expect(messagesOf(world).join()).toContain("9488 or more tools are omitted");
  });

  it("At most a million characters of tool descriptions are used", async () => {
    const world = await openMcpWorld([hostile("fat")]);
    expect(world.tools()).toHaveLength(20);
    expect(messagesOf(world).join()).toContain("80 or more tools are omitted");
  });

  it("A generated name that another tool really has stays with that tool", async () => {
    const world = await openMcpWorld([hostile("twins")]);
    expect(namesOf(world)).toHaveLength(20);
    expect(world.tools().at(-1)?.spec.description).toBe(
      `Does ${toModelName("h", "a b").slice("h__".length)}`,
    );
    expect(messagesOf(world).join()).toContain("another tool has the same name");
    expect(messagesOf(world).join()).not.toContain("omitted");
  });

  it("A server cannot imitate the tools of another server or of the workspace", async () => {
    const world = await openMcpWorld([hostile("imitating"), hostile("", { name: "other" })]);
    const names = namesOf(world);
    expect(new Set(names).size).toBe(names.length);
    expect(names.slice(0, 6)).toEqual([
      "h__read_file",
      "h__other__echo",
      "h____echo",
      expect.stringMatching(/^h___ch__[0-9a-f]{8}$/),
      expect.stringMatching(/^h__echo__[0-9a-f]{8}$/),
      expect.stringMatching(/^h__\.?.*other__echo_[0-9a-f]{8}$/),
    ]);
    expect(await world.callTool("other__echo", { of: "other" })).toBe('{"of":"other"}');
    await expect(world.callTool("h__other__echo")).rejects.toThrow("Unknown tool other__echo");
  });

  it("A server whose tools change constantly is queried less and less often", async () => {
    const world = await openMcpWorld([hostile("fickle")]);
    for (let second = 0; second < 300; second += 1) {
      world.clock.advance(1000);
      // This tool call ends after every earlier request was answered.
      await world.callTool("h__echo");
    }
    expect(world.changeCount).toBeGreaterThan(12);
    expect(world.changeCount).toBeLessThan(25);
  });

  it("The settings include and exclude select tools, also from 10,000", async () => {
    const settings = hostile("many", { include: ["tool_999*"], exclude: ["*7", "tool_999"] });
    expect(namesOf(await openMcpWorld([settings]))).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 8, 9].map((at) => `h__tool_999${at}`),
    );
  });

  it("Each tool with an invalid schema is omitted with the reason", async () => {
    const world = await openMcpWorld([hostile("schemas")]);
    expect(namesOf(world)).toEqual([
      "h__good",
      "h__untyped",
      "h__dangling",
      "h__remote",
      "h__lying_output",
    ]);
    const [{ problems } = { problems: [] }] = world.status();
    expect(problems.map(({ tool, problem }) => `${tool}: ${problem}`)).toEqual([
      "no_schema: its schema cannot be used: it is not an object",
      "text: its schema does not describe an object",
      expect.stringMatching(/^wrong: its schema cannot be used: properties\.a\.type must be/),
      "deep: its schema cannot be used: it is nested deeper than 64 levels",
      "huge: its schema cannot be used: it has more than 65536 characters",
      expect.stringMatching(/^lying_output: its results are not checked: its output schema/),
      "task: it runs only as a task, which is not supported",
      "good: it is listed twice",
      ": it has no name",
      ": it has no name",
    ]);
    expect(world.findTool("h__dangling").check({})).toMatch(
      /^its schema cannot be used: can't resolve/,
    );
    expect(world.findTool("h__remote").check({})).toMatch(
      /^its schema cannot be used: can't resolve/,
    );
  });

  it("Invisible characters are removed from names and descriptions", async () => {
    const world = await openMcpWorld([hostile("names")]);
    const toolTexts = world.tools().map(({ spec: facts }) => [facts.name, facts.description]);
    expect(Object.fromEntries(toolTexts)).toEqual({
      h____proto__: "Does __proto__",
      h__constructor: "Does constructor",
      h__with_space_5196f73e: "Does with space",
      [`h__${"l".repeat(52)}_0b02e733`]: expect.stringContaining("lll"),
      h____31mred__58f47d5c: "Does [31mred",
      h__described: "Reads a[2J file.",
      h__silent: "A title",
      h__long: `${"y".repeat(3999)}…`,
    });
    for (const name of namesOf(world)) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(messagesOf(world).join()).toContain("its name is longer than 256 characters");
  });

  it("A tool and an argument named __proto__ are plain data", async () => {
    const world = await openMcpWorld([hostile("names")]);
    const tool = world.findTool("h____proto__");
    expect(tool.check(JSON.parse('{"__proto__":"a"}'))).toBe(undefined);
    const hostileText = '{"__proto__":{"isAdmin":true}}';
    const plain = await openMcpWorld([hostile()]);
    expect(await plain.callTool("h__echo", JSON.parse(hostileText))).toBe(hostileText);
  });

  it("Slow schemas and patterns are limited to 500 ms", async () => {
    const world = await openMcpWorld([hostile("slow-schema")]);
    expect(world.findTool("h__slow").check({})).toBe(
      "its schema cannot be used: The time limit of 500 ms was exceeded",
    );
    expect(world.findTool("h__regex").check({ a: `${"a".repeat(50)}!` })).toBe(
      "its schema cannot be used: The time limit of 500 ms was exceeded",
    );
    expect(world.findTool("h__regex").check({ a: "aaa" })).toBe(undefined);
  });
});

describe("Tool annotations of a server", () => {
  const executor = { type: "mcp", server: "h" };
  const careful = { kind: "other", sideEffect: "network", executor };
  const readTraits = (world: McpWorld) =>
    Object.fromEntries(
      world.tools().map(({ spec: { name, traits, idempotent } }) => [name, { traits, idempotent }]),
    );

  it("Annotations of an untrusted server are ignored, and the settings define the executor [B-084] [B-085]", async () => {
    expect(readTraits(await openMcpWorld([hostile("hints")]))).toEqual({
      h__read: { traits: careful, idempotent: false },
      h__search: { traits: careful, idempotent: false },
      h__again: { traits: careful, idempotent: false },
      h__plain: { traits: careful, idempotent: false },
    });
  });

  it("Annotations of a trusted server are used", async () => {
    expect(readTraits(await openMcpWorld([hostile("hints", { trusted: true })]))).toEqual({
      h__read: { traits: { kind: "read", sideEffect: "read_only", executor }, idempotent: true },
      h__search: { traits: { kind: "fetch", sideEffect: "network", executor }, idempotent: true },
      h__again: { traits: careful, idempotent: true },
      h__plain: { traits: careful, idempotent: false },
    });
  });
});

describe("MCP tool calls", () => {
  it("A tool call returns the tool's result", async () => {
    const world = await openMcpWorld([hostile()]);
    expect(await world.callTool("h__echo", { a: [1, null, "ü"] })).toBe('{"a":[1,null,"ü"]}');
    expect(await world.callTool("h__silence")).toBe(undefined);
    expect(await world.callTool("h__fits")).toEqual({ n: 1 });
  });

  it("A server runs in the session's folder with a minimal environment", async () => {
    const environment = { PATH: process.env["PATH"], HOME: "/home/me", SECRET: "s", TOKEN: "t" };
    const settings = hostile("", { env: { GIVEN: "g" }, inheritEnv: ["TOKEN", "NOT_SET"] });
    const world = await openMcpWorld([settings], { environment, workingDirectory: folder });
    const { env, cwd } = JSON.parse(String(await world.callTool("h__surroundings")));
    expect(cwd).toBe(folder);
    expect(env).toMatchObject({ HOME: "/home/me", GIVEN: "g", TOKEN: "t" });
    const odd = Object.keys(env).filter((name) => !["PWD", "_", "SHLVL", "OLDPWD"].includes(name));
    expect(odd.sort()).toEqual(["GIVEN", "HOME", "PATH", "TOKEN"]);
  });

  it("A server that requests roots gets the session's folder if its settings say so", async () => {
    const settings = hostile("", { roots: "session" });
    const world = await openMcpWorld([settings], { workingDirectory: folder });
    const roots = { roots: [{ uri: `file://${folder}`, name: folder.split("/").at(-1) }] };
    expect(JSON.parse(String(await world.callTool("h__roots")))).toEqual({
      jsonrpc: "2.0",
      result: roots,
    });
  });

  it("Requests for roots, sampling or elicitation are refused by default", async () => {
    const world = await openMcpWorld([hostile()], { workingDirectory: folder });
    for (const name of ["h__roots", "h__sample", "h__elicit"]) {
      expect(JSON.parse(String(await world.callTool(name)))).toMatchObject({
        error: { code: -32_601, message: "Method not found" },
      });
    }
  });

  it("Content that is not text is described", async () => {
    const world = await openMcpWorld([hostile()]);
    expect(await world.callTool("h__pictures")).toBe(
      [
        "[image, image/png, 3000 bytes, not shown]",
        "[audio, audio/wav, 3000 bytes, not shown]",
        "[link, a, file:///a.txt, 12 bytes]",
        "[resource, file:///b.txt]",
        "inside b",
        "[resource, file:///c.bin, 3000 bytes, not shown]",
        '[content of an unknown type: {"type":"hologram","depth":3}]',
      ].join("\n"),
    );
  });

  it("A tool call fails with the error of the tool or of the server", async () => {
    const world = await openMcpWorld([hostile()]);
    await expect(world.callTool("h__error")).rejects.toThrow(/^No such row$/);
    await expect(world.callTool("h__refuse")).rejects.toThrow(
      /^The MCP server h refused: .*No such argument \(error -32602\)$/,
    );
  });

  it("A tool call fails if its result does not match its output schema", async () => {
    const world = await openMcpWorld([hostile()]);
    await expect(world.callTool("h__lies")).rejects.toThrow(
      "The tool was run, but its result does not match its own output schema: n must be a number",
    );
    await expect(world.callTool("h__keeps_to_itself")).rejects.toThrow(/the result must be/);
  });

  it("A cancelled tool call ends at once, and the server is notified", async () => {
    const world = await openMcpWorld([hostile()]);
    const controller = new AbortController();
    const running = world.callTool("h__hang", {}, { signal: controller.signal });
    const settled = vi.fn<() => void>();
    running.catch(settled);
    expect(await world.callTool("h__echo")).toBe("{}");
    expect(settled).not.toHaveBeenCalled();
    controller.abort(new Error("Enough"));
    await expect(running).rejects.toThrow("Enough");
    expect(JSON.parse(String(await world.callTool("h__cancelled")))).toHaveLength(1);
  });

  it("A tool call cancelled while its result arrives ends once, and the server stays usable", async () => {
    const world = await openMcpWorld([hostile()]);
    for (let at = 0; at < 50; at += 1) {
      const controller = new AbortController();
      const { signal } = controller;
      const running = world.callTool("h__echo", { at }, { signal });
      const ended = running.catch((error: unknown) => error);
      for (let turns = 0; turns < at; turns += 1) await Promise.resolve();
      if (at % 2 === 0) await world.callTool("h__silence");
      controller.abort(new Error("Enough"));
      expect([`{"at":${at}}`, new Error("Enough")]).toContainEqual(await ended);
    }
    expect(await world.callTool("h__echo", { a: 1 })).toBe('{"a":1}');
    expect(world.clock.pending).toBe(0);
  });

  it("A tool call ends at its idle limit, which restarts with every progress notification", async () => {
    const world = await openMcpWorld([hostile("", { timeoutMs: 10_000 })]);
    const { clock } = world;
    const receivedNames: string[] = [];
    const late = vi.fn<(error: unknown) => void>();
    const running = world.callTool(
      "h__steps",
      {},
      { progress: (text) => void receivedNames.push(text) },
    );
    running.catch(late);
    await eventually(() => expect(receivedNames).toEqual(["1 of 3"]));
    clock.advance(9000);
    expect(await world.callTool("h__nudge")).toBe("nudged");
    expect(receivedNames).toEqual(["1 of 3", "Half[31m way"]);
    clock.advance(9999);
    expect(await world.callTool("h__echo")).toBe("{}");
    expect(late).not.toHaveBeenCalled();
    clock.advance(1);
    await expect(running).rejects.toThrow(
      "The MCP server h did not respond within 10 seconds. The outcome of the tool call is unknown, and the tool is not run again.",
    );
    expect(JSON.parse(String(await world.callTool("h__cancelled")))).toHaveLength(1);
  });

  it("A tool call ends at its maximum time regardless of progress", async () => {
    const world = await openMcpWorld([hostile("", { timeoutMs: 10_000, maxTimeoutMs: 12_000 })]);
    expect(world.findTool("h__steps").spec.timeoutMs).toBe(12_000);
    const running = world.callTool("h__steps");
    running.catch(() => undefined);
    expect(await world.callTool("h__echo")).toBe("{}");
    world.clock.advance(9000);
    expect(await world.callTool("h__nudge")).toBe("nudged");
    world.clock.advance(3000);
    await expect(running).rejects.toThrow("did not respond within 12 seconds");
  });

  it("At most eight tool calls of a server run at once, and further ones are queued", async () => {
    const world = await openMcpWorld([hostile()]);
    const controller = new AbortController();
    const eight = Array.from({ length: 8 }, () =>
      world.callTool("h__hang", {}, { signal: controller.signal }).catch(() => "ended"),
    );
    const echoed = vi.fn<(value: unknown) => unknown>((value) => value);
    const ninth = world.callTool("h__echo").then(echoed);
    const impatient = AbortSignal.abort(new Error("Not now"));
    await expect(world.callTool("h__echo", {}, { signal: impatient })).rejects.toThrow("Not now");
    expect(echoed).not.toHaveBeenCalled();
    controller.abort();
    expect(await ninth).toBe("{}");
    expect(await Promise.all(eight)).toEqual(Array(8).fill("ended"));
  });
});

describe("Secrets in the settings of a server", () => {
  const secret = "sk-4f9a8b7c6d5e4f3a2b1c";

  it("Secrets are redacted from results, progress, tool names and errors", async () => {
    const env = { API_TOKEN: secret, ROOT: "/home/somebody" };
    const world = await openMcpWorld([hostile("", { env })]);
    const notes: string[] = [];
    const progress = (text: string): void => void notes.push(text);
    world.callTool("h__steps", {}, { progress }).catch(() => undefined);
    expect(await world.callTool("h__confess")).toBe(
      [
        'curl -H "Authorization: Bearer [redacted]"',
        "[link, [redacted], https://example.org/?token=[redacted]]",
        "[resource, https://example.org/?token=[redacted]]",
        "[redacted]",
        "and [redacted]",
      ].join("\n"),
    );
    expect(notes).toEqual(["1 of 3", "Sending [redacted]"]);
    // A tool with the secret in its name is dropped: under a redacted name no call could reach it.
    await eventually(() => expect(namesOf(world)).toEqual(["h__echo", "h__confess"]));
    expect(messagesOf(world).join()).toContain("with [redacted]");
    const facts = world.tools().map((tool) => tool.spec);
    expect(facts[0]?.description).toBe("Uses [redacted]");
    expect(JSON.stringify(facts)).not.toContain("4f9a");
    expect(await world.callTool("h__echo", { at: `/home/somebody ${secret}` })).toBe(
      '{"at":"/home/somebody [redacted]"}',
    );
  });

  it("A value from a reference is redacted, whatever its name", async () => {
    const settings = hostile("", { env: { PLACE: "the-reference-value" } });
    const world = await openMcpWorld([settings], { secrets: ["the-reference-value"] });
    expect(await world.callTool("h__surroundings")).toContain('"PLACE":"[redacted]"');
  });
});

describe("Servers during a tool call", () => {
  it("A server that exits fails its tool call, which is not repeated, and is started again", async () => {
    const world = await openMcpWorld([hostile()]);
    const pid = await world.callTool("h__pid");
    const [dying, other] = await Promise.allSettled([
      world.callTool("h__die"),
      world.callTool("h__hang"),
    ]);
    const words =
      "The MCP server h ended with code 9; the end of its stderr: The roof is on fire. The outcome of the tool call is unknown, and the tool is not run again.";
    expect(dying).toMatchObject({ status: "rejected", reason: { message: words } });
    expect(other).toMatchObject({ status: "rejected", reason: { message: words } });
    expect(world.status()).toMatchObject([{ state: "waiting", tools: 23 }]);
    await expect(world.callTool("h__echo")).rejects.toThrow(
      /^The MCP server h is not connected \(The MCP server h ended with code 9.*The tool was not run/,
    );
    await eventually(() => expect(world.clock.pending).toBe(1));
    world.clock.advance(1000);
    await eventually(() => expect(world.status()).toMatchObject([{ state: "connecting" }]));
    expect(await world.callTool("h__echo")).toBe("{}");
    expect(await world.callTool("h__pid")).not.toBe(pid);
    expect(world.changeCount).toBe(1);
  });

  it("A server that returns with other tools runs none of them for a call of an old tool", async () => {
    const env = { PID_FILE: join(folder, "turncoat.pid") };
    const world = await openMcpWorld([hostile("turncoat", { env })]);
    await expect(world.callTool("h__die")).rejects.toThrow("ended with code 9");
    const [before, echo] = [world.findTool("h__pid"), world.findTool("h__echo")];
    const other = world.findTool("h__error");
    await eventually(() => expect(world.clock.pending).toBe(1));
    world.clock.advance(1000);
    await eventually(() => expect(world.status()).toMatchObject([{ state: "connecting" }]));
    await expect(before.run({}, createToolContext())).rejects.toThrow("no longer offers this tool");
    // An approval of the old tool does not apply to the changed tool.
    await expect(other.run({}, createToolContext())).rejects.toThrow(
      "The MCP server h has changed this tool since it was called; the tool was not run",
    );
    expect(await echo.run({ a: 1 }, createToolContext())).toBe('{"a":1}');
    expect(namesOf(world)).toEqual(["h__echo", "h__newcomer", "h__error"]);
  });

  it("A tool call is refused if the server changed the tool since", async () => {
    const world = await openMcpWorld([hostile()]);
    const before = world.findTool("h__echo");
    const hang = world.findTool("h__hang");
    const end = new AbortController();
    const take = () => hang.run({}, createToolContext({ signal: end.signal }));
    const places = Array.from({ length: 7 }, take);
    expect(await world.callTool("h__change")).toBe("changed");
    // All slots are in use: the call is queued while the tool list is read again.
    places.push(take());
    const late = before.run({}, createToolContext());
    await eventually(() => expect(world.findTool("h__echo").spec.description).toBe("Another echo"));
    end.abort();
    await expect(late).rejects.toThrow("has changed this tool since it was called");
    await Promise.allSettled(places);
    expect(await world.callTool("h__echo", { a: 1 })).toBe('{"a":1}');
  });

  it("A server that sends too much is stopped", async () => {
    const world = await openMcpWorld([hostile()]);
    const pid = Number(await world.callTool("h__pid"));
    await expect(world.callTool("h__giant")).rejects.toThrow(
      /sent a message of more than 10485760 bytes\. The outcome of the tool call/,
    );
    await expectGone(pid);
  });

  it("A server that stops reading its input is stopped", async () => {
    const world = await openMcpWorld([hostile()]);
    const pid = Number(await world.callTool("h__pid"));
    expect(await world.callTool("h__deaf")).toBe("What?");
    const long = { text: "x".repeat(9 * 1024 * 1024) };
    const calls = [1, 2, 3].map(() => world.callTool("h__echo", long));
    const ends = await Promise.allSettled(calls);
    for (const end of ends) {
      expect(end).toMatchObject({
        reason: { message: expect.stringContaining("does not read its input") },
      });
    }
    await expectGone(pid);
  });

  it("A server that floods its output delays the other servers only slightly", async () => {
    // No time limit ends the call while the server writes all of its output.
    const patient = { timeoutMs: 86_400_000, maxTimeoutMs: 86_400_000 };
    const world = await openMcpWorld([hostile("", patient), hostile("", { name: "quiet" })]);
    const flooding = world.callTool("h__flood");
    // Reading from this server is paused, so the server has to wait.
    await eventually(() => expect(world.clock.pending).toBeGreaterThan(1));
    expect(await world.callTool("quiet__echo")).toBe("{}");
    const answered = vi.fn<(text: unknown) => void>();
    void flooding.then(answered);
    await eventually(() => {
      world.clock.advance(100);
      expect(answered).toHaveBeenCalledWith("flooded");
    });
  });

  it("A call of a removed tool fails with the reason", async () => {
    const world = await openMcpWorld([hostile()]);
    const before = world.findTool("h__error");
    expect(await world.callTool("h__change")).toBe("changed");
    await eventually(() => expect(namesOf(world)).toEqual(["h__echo", "h__newcomer"]));
    expect(world.changeCount).toBe(1);
    expect(world.findTool("h__echo").spec.description).toBe("Another echo");
    await expect(before.run({}, createToolContext())).rejects.toThrow(
      "The MCP server h no longer offers this tool; the tool was not run",
    );
  });

  it("Lines on standard output that are not messages are ignored and reported", async () => {
    const world = await openMcpWorld([hostile("junk")]);
    expect(await world.callTool("h__echo")).toBe("{}");
    expect(messagesOf(world)[0]).toBe(
      "The MCP server h writes lines to its standard output that are not messages, such as: Hello!. These lines are ignored",
    );
  });
});

describe("Servers with the 2026 protocol only", () => {
  it("A server that supports only the 2026 protocol is used with it", async () => {
    const world = await openMcpWorld([hostile("modern")]);
    expect(world.reports).toEqual([]);
    expect(await world.callTool("h__echo", { a: 1 })).toBe('{"a":1}');
    expect(await world.callTool("h__change")).toBe("changed");
    await eventually(() => expect(namesOf(world)).toEqual(["h__echo", "h__newcomer"]));
  });
});

describe("Server processes", () => {
  it("A server ends when its session closes, even if it ignores signals", async () => {
    const world = await openMcpWorld([hostile("stubborn")]);
    const pid = Number(await world.callTool("h__pid"));
    expect(isAlive(pid)).toBe(true);
    await world.close();
    expect(isAlive(pid)).toBe(false);
    expect(world.status()).toMatchObject([{ state: "closed" }]);
    expect(world.clock.pending).toBe(0);
  });

  it("A server that was killed from outside is started again", async () => {
    const world = await openMcpWorld([hostile()]);
    const pid = Number(await world.callTool("h__pid"));
    process.kill(pid, "SIGKILL");
    await eventually(() => expect(world.status()).toMatchObject([{ state: "waiting" }]));
    expect(failureOf(world)?.message).toContain("ended with code 137 (signal 9)");
    await eventually(() => expect(world.clock.pending).toBe(1));
    world.clock.advance(1000);
    await eventually(() => expect(world.status()).toMatchObject([{ state: "connected" }]));
    expect(Number(await world.callTool("h__pid"))).not.toBe(pid);
  });
});
