import { describe, expect, it, onTestFinished } from "vitest";
import { performShellOperation } from "../../wire/acp/host/perform-shell-operation.ts";
import { createShell } from "../../domain/tools/create-shell.ts";
import type { JsonObject } from "../../data/json.ts";
import { createClient } from "../client/create-client.ts";
import { createHost } from "./create-host.ts";
import type { HostOptions } from "./host-options.ts";
import type { Report } from "../connection/host-report.ts";
import { createScriptedRuntime, type ScriptedRuntimeOptions } from "../scripted-runtime.ts";

/** A runtime connected to a host. */
async function connected(options: HostOptions, script: ScriptedRuntimeOptions = {}) {
  const runtime = createScriptedRuntime(script);
  const client = createClient(runtime.connect, {
    host: createHost(options),
    reconnect: { first: 1, longest: 1 },
  });
  onTestFinished(() => client.close());
  await client.initialize();
  return { runtime, client };
}

const PLACE = { workingDirectory: "/" };

function rpcCode(code: number): unknown {
  return expect.objectContaining({ details: expect.objectContaining({ rpcCode: code }) });
}

const PERMISSION = {
  sessionId: "ses_1",
  toolCall: { toolCallId: "tool_1", title: "rm", rawInput: { path: "a" } },
  options: [
    { optionId: "yes", name: "Yes", kind: "allow_once" },
    { optionId: "ever", name: "Always", kind: "allow_always" },
    { optionId: "no", name: "No", kind: "reject_once" },
  ],
};

const BRIDGE = { ...PERMISSION, approvalRequest: { id: "tool_1", action: "rm", args: {} } };

function selected(optionId: string): JsonObject {
  return { outcome: { outcome: "selected", optionId } };
}

describe("Permission requests to a host", () => {
  it.each<[string, NonNullable<HostOptions["permission"]>, JsonObject]>([
    ["allows once", () => "allow", selected("yes")],
    ["allows always", () => "always", selected("ever")],
    ["denies", () => "deny", selected("no")],
    ["denies with a reason, which ACP cannot carry,", () => ({ deny: "busy" }), selected("no")],
    ["chooses an option", () => ({ option: "ever" }), selected("ever")],
    ["chooses an unknown option, and is denied,", () => ({ option: "else" }), selected("no")],
    // The agent would run the tool call with its original arguments.
    [
      "allows changed arguments, which ACP cannot carry, and is denied,",
      () => ({ allow: { path: "b" } }),
      selected("no"),
    ],
    ["fails, and is denied,", () => Promise.reject(new Error("no screen")), selected("no")],
    ["returns undefined, and is denied,", () => undefined as never, selected("no")],
    ["returns an unknown reply, and is denied,", () => "yes" as never, selected("no")],
    [
      "allows arguments that are not an object, and is denied,",
      () => ({ allow: true }) as never,
      selected("no"),
    ],
  ])("A permission callback that %s sends the matching option", async (_, permission, result) => {
    const { runtime } = await connected({ permission });
    expect(await runtime.request("session/request_permission", PERMISSION)).toEqual(result);
  });

  it("A permission request is denied without a permission callback [W-07]", async () => {
    const { runtime } = await connected({});
    expect(await runtime.request("session/request_permission", PERMISSION)).toEqual(selected("no"));
  });

  it.each<[string, NonNullable<HostOptions["permission"]>, JsonObject]>([
    ["no reason", () => "deny", { ...selected("no"), granted: false }],
    ["a reason", () => ({ deny: "no" }), { ...selected("no"), granted: false, reason: "no" }],
    [
      "changed arguments",
      () => ({ allow: { path: "b" } }),
      { ...selected("yes"), granted: true, args: { path: "b" } },
    ],
  ])("The reply to a bridge carries %s [B-115] [B-116]", async (_, permission, result) => {
    const { runtime } = await connected({ permission });
    expect(await runtime.request("session/request_permission", BRIDGE)).toEqual(result);
  });

  it("A permission request without options gets a reply without an option id [B-113]", async () => {
    const { options: _, ...bare } = BRIDGE;
    const { runtime } = await connected({ permission: () => "allow" });
    expect(await runtime.request("session/request_permission", bare)).toEqual({
      outcome: { outcome: "selected" },
    });
  });

  it("A plain yes or no to a request with other options is reported and sent as cancelled", async () => {
    const outcome = {
      ...PERMISSION,
      options: [
        { optionId: "done", name: "It was done", kind: "allow_once" },
        { optionId: "run-again", name: "Run it again", kind: "allow_once" },
        { optionId: "failed", name: "It failed", kind: "reject_once" },
      ],
    };
    for (const [reply, plainReply] of [
      ["allow", "yes"],
      ["deny", "no"],
    ] as const) {
      const reports: unknown[] = [];
      const report: Report = (...reported) => void reports.push(reported);
      const { runtime } = await connected({ permission: () => reply, report });
      expect(await runtime.request("session/request_permission", outcome)).toEqual({
        outcome: { outcome: "cancelled" },
      });
      const options = ["done", "run-again", "failed"];
      const problem = `A plain ${plainReply} is ambiguous: expected one of ${options.join(", ")}`;
      expect(reports).toEqual([
        [
          "A request was cancelled without a chosen option",
          { action: expect.any(String), problem, options },
        ],
      ]);
    }
  });

  it("A permission request is answered as cancelled when the turn is cancelled", async () => {
    let resolveRequest = (): void => {};
    const isAsked = new Promise<void>((resolve) => (resolveRequest = resolve));
    const { runtime, client } = await connected({
      permission() {
        resolveRequest();
        return "leave";
      },
    });
    const answer = runtime.request("session/request_permission", PERMISSION);
    await isAsked;
    await client.cancel("ses_1");
    expect(await answer).toEqual({ outcome: { outcome: "cancelled" } });
  });
});

describe("Tools of a host", () => {
  it("The tool list has all fields of every tool [B-228]", async () => {
    const schema = { type: "object" };
    const { runtime } = await connected({
      tools: [
        { name: "open", description: "Opens a file", schema, run: () => null },
        { name: "old", deprecated: true, run: () => null },
      ],
    });
    expect(await runtime.request("host/tools/list", {})).toEqual({
      tools: [
        { name: "open", description: "Opens a file", schema, deprecated: false },
        { name: "old", description: "", schema: null, deprecated: true },
      ],
    });
  });

  it("A repeated tool call runs once, also over another connection [W-48]", async () => {
    let runs = 0;
    const { runtime, client } = await connected({
      tools: [{ name: "count", run: ({ by }) => ({ runs: (runs += 1), by }) }],
    });
    const call = { name: "count", args: [{ by: 1 }], _meta: { harn: { toolCallId: "tool_1" } } };
    expect(await runtime.request("builtin_call", call)).toEqual({ runs: 1, by: 1 });
    expect(await runtime.request("_harn/builtin_call", call)).toEqual({ runs: 1, by: 1 });
    runtime.drop();
    await client.resumeSession("ses_1", PLACE);
    expect(await runtime.request("builtin_call", call)).toEqual({ runs: 1, by: 1 });
    expect(await runtime.request("builtin_call", { name: "count", args: [{}] })).toEqual({
      runs: 2,
    });
  });

  it("A tool call continues after its connection is lost, and a repeated request gets its result", async () => {
    let runs = 0;
    let finish: (result: string) => void = () => {};
    const { runtime, client } = await connected({
      tools: [
        {
          name: "slow",
          run: () => {
            runs += 1;
            return new Promise((resolve) => (finish = resolve));
          },
        },
      ],
    });
    const call = { name: "slow", args: [{}], _meta: { harn: { toolCallId: "tool_1" } } };
    const lost = runtime.request("builtin_call", call);
    await client.resumeSession("ses_1", PLACE);
    runtime.drop();
    await expect(lost).rejects.toMatchObject({ code: "connection_lost" });
    await client.resumeSession("ses_1", PLACE);
    const again = runtime.request("builtin_call", call);
    finish("done");
    expect(await again).toBe("done");
    expect(runs).toBe(1);
  });

  it("A tool call id used for different arguments is refused", async () => {
    const { runtime } = await connected({ tools: [{ name: "a", run: () => 1 }] });
    const call = (args: JsonObject): JsonObject => ({
      name: "a",
      args: [args],
      _meta: { harn: { toolCallId: "x" } },
    });
    await runtime.request("builtin_call", call({}));
    await expect(runtime.request("builtin_call", call({ b: 1 }))).rejects.toEqual(rpcCode(-32602));
  });

  it("The error of a failed tool is returned, and repeated for the same tool call", async () => {
    let runs = 0;
    const { runtime } = await connected({
      tools: [
        {
          name: "broken",
          run() {
            throw new Error(`no ${(runs += 1)}`);
          },
        },
      ],
    });
    const call = { name: "broken", args: [{}], _meta: { harn: { toolCallId: "x" } } };
    await expect(runtime.request("builtin_call", call)).rejects.toMatchObject({ message: "no 1" });
    await expect(runtime.request("builtin_call", call)).rejects.toMatchObject({ message: "no 1" });
    await expect(runtime.request("builtin_call", { name: "none" })).rejects.toEqual(
      rpcCode(-32602),
    );
  });

  it("Cancelling a request aborts the running tool", async () => {
    let begun = (): void => {};
    const isBegun = new Promise<void>((resolve) => (begun = resolve));
    const ended = new AbortController();
    const { runtime } = await connected({
      tools: [
        {
          name: "slow",
          run(_, { signal }) {
            signal.addEventListener("abort", () => ended.abort());
            begun();
            return new Promise(() => {});
          },
        },
      ],
    });
    const answer = runtime.request("builtin_call", { name: "slow", args: [{}] });
    await isBegun;
    // The scripted runtime numbers its request ids.
    runtime.notify("$/cancel_request", { requestId: "scripted0-1" });
    await expect(answer).rejects.toEqual(rpcCode(-32800));
    expect(ended.signal.aborted).toBe(true);
  });

  it("Two tools with the same name are refused", () => {
    const run = (): null => null;
    expect(() =>
      createHost({
        tools: [
          { name: "a", run },
          { name: "a", run },
        ],
      }),
    ).toThrow(expect.objectContaining({ code: "invalid_tool" }));
  });
});

describe("Other requests to a host", () => {
  const shells = {
    shells: [
      createShell({ path: "/bin/zsh", platform: "darwin", source: "env", isAvailable: true }),
    ],
    defaultId: "zsh",
  };

  it.each(["host/call", "host_call", "_harn/host/call"])(
    "The method %s performs shell operations [B-239]",
    async (method) => {
      const { runtime } = await connected({ shells });
      const call = { name: "process.list_shells", args: {} };
      const performed = performShellOperation(shells, { name: call.name, args: {} });
      expect(await runtime.request(method, call)).toEqual(performed.ok && performed.value.result);
    },
  );

  it("Skills can be listed, fetched and matched [B-256] [B-259] [B-268]", async () => {
    const { runtime } = await connected({
      skills: {
        list: () => [{ id: "acme/review", name: "review", description: "Code review" }],
        fetch: (id) =>
          id === "acme/review"
            ? {
                name: "review",
                description: "Code review",
                body: "# Review",
                allowedTools: ["git"],
                whenToUse: "before a merge",
              }
            : undefined,
      },
      skillMatch: ({ prompt, candidates, workingFiles }) =>
        candidates
          .filter(({ name }) => prompt.includes(name))
          .map(({ name, whenToUse }) => ({
            name,
            score: workingFiles.length,
            reason: whenToUse,
          })),
    });
    expect(await runtime.request("skills/list", {})).toEqual([
      { id: "acme/review", name: "review", description: "Code review", source: "host" },
    ]);
    expect(await runtime.request("skills/fetch", { id: "acme/review" })).toEqual({
      name: "review",
      description: "Code review",
      body: "# Review",
      manifest: { when_to_use: "before a merge", allowed_tools: ["git"] },
    });
    await expect(runtime.request("skills/fetch", { id: "none" })).rejects.toMatchObject({
      code: "not_found",
      details: { rpcCode: -32002 },
    });
    const match = {
      strategy: "host",
      prompt: "Please review this",
      working_files: ["a.ts"],
      candidates: [
        { name: "review", description: "", when_to_use: "on review", paths: [] },
        { name: "ship", description: "", when_to_use: "", paths: [] },
      ],
    };
    expect(await runtime.request("skill/match", match)).toEqual({
      matches: [{ name: "review", score: 1, reason: "on review" }],
    });
  });

  it("File and terminal requests are passed to the editor's callbacks", async () => {
    const written: unknown[] = [];
    const { runtime } = await connected({
      files: {
        read: ({ path, line }) => `${path} from ${line}`,
        write: (request) => void written.push(request),
      },
      terminals: {
        create: ({ command, args, environment }) =>
          [command, ...args, environment.length].join(" "),
        output: () => ({ output: "hi", truncated: false }),
        waitForExit: () => ({ exitCode: 0 }),
        kill: () => {},
        release: () => {},
      },
    });
    const file = { sessionId: "s", path: "/a" };
    expect(await runtime.request("fs/read_text_file", { ...file, line: 3 })).toEqual({
      content: "/a from 3",
    });
    expect(await runtime.request("fs/write_text_file", { ...file, content: "x" })).toEqual({});
    expect(written).toEqual([{ ...file, content: "x" }]);
    const start = { sessionId: "s", command: "ls", args: ["-l"], env: [{ name: "A", value: "b" }] };
    expect(await runtime.request("terminal/create", start)).toEqual({ terminalId: "ls -l 1" });
    const terminal = { sessionId: "s", terminalId: "t" };
    expect(await runtime.request("terminal/output", terminal)).toEqual({
      output: "hi",
      truncated: false,
    });
    expect(await runtime.request("terminal/wait_for_exit", terminal)).toEqual({ exitCode: 0 });
    expect(await runtime.request("terminal/kill", terminal)).toEqual({});
    expect(await runtime.request("terminal/release", terminal)).toEqual({});
    await expect(runtime.request("fs/read_text_file", { path: "/a" })).rejects.toEqual(
      rpcCode(-32602),
    );
  });

  it.each([
    "host/tools/list",
    "builtin_call",
    "host/call",
    "skills/list",
    "skills/fetch",
    "skill/match",
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "constructor",
    "tool/pre_use",
  ])("The method %s is not found if the host does not offer it", async (method) => {
    const { runtime } = await connected({});
    await expect(runtime.request(method, {})).rejects.toEqual(rpcCode(-32601));
  });

  it("The capabilities at initialize name the offered features and the bridge protocol", async () => {
    const capabilities = (options: HostOptions): unknown => createHost(options).capabilities;
    expect(capabilities({})).toEqual({
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      _meta: { harn: {} },
    });
    expect(capabilities({ tools: [], files: { read: () => "" }, shells })).toEqual({
      fs: { readTextFile: true, writeTextFile: false },
      terminal: false,
      _meta: { harn: { tools: true, callRecords: true, shells: true } },
    });
    const { runtime } = await connected({ tools: [] });
    expect(runtime.receivedMessages[0]).toMatchObject({
      method: "initialize",
      params: { protocolVersion: 1, clientCapabilities: { _meta: { harn: { tools: true } } } },
    });
  });
});
