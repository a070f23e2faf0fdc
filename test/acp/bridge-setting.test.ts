import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isObject, type JsonValue } from "../../src/data/json.ts";
import { readText, type AcpPeer, type Message } from "../support/acp/acp-client.ts";
import { createAcpProject, type AcpProject } from "../support/acp/acp-project.ts";
import { spawnWithPipes, spawnWithWebSocket } from "../support/acp/spawned-peers.ts";
import { createCommandLine, type CommandLine } from "../support/command-line.ts";
import { says, wants } from "../support/server/model-server.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

const TIMEOUT = { timeout: 60_000 };
const STANDARD = /^(user|agent)_|^(tool_call|plan|session_info|current_mode|config_option|usage)/;

/** An agent which calls a host tool. */
function world(): Promise<AcpProject> {
  return createAcpProject(command, {}, ({ messages }) =>
    messages.at(-1)?.role === "tool"
      ? says("It is done.")
      : wants({ id: "r", name: "host__Read", input: { path: "a.ts" } }),
  );
}

/** Adds a section to the configuration of the project. */
function configure({ args }: AcpProject, section: object): void {
  const file = args[args.indexOf("--config") + 1] ?? "";
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...section }));
}

const SHELL = { id: "sh", label: "sh", path: "/bin/sh", platform: "linux", available: true };
const RESULTS: { readonly [method: string]: object } = {
  "host/tools/list": { tools: [{ name: "Read", schema: { type: "object" } }] },
  "host/call": { shells: [{ ...SHELL, default_args: ["-c"] }], default_shell_id: "sh" },
  "skills/list": [{ id: "deploy", name: "deploy", description: "Ship it", source: "host" }],
  builtin_call: { text: "const a = 1;" },
  "session/request_permission": { granted: true },
};

/** Replies to every request from Spanline, as a host of the bridge protocol does. */
function answerRequests(talk: AcpPeer): void {
  const answered = new Set<JsonValue>();
  const isNew = ({ id, method }: Message): boolean =>
    method !== undefined && id !== undefined && !answered.has(id);
  const next = async (): Promise<void> => {
    for (;;) {
      const { id, method } = await talk.waitForMessage(isNew);
      answered.add(id ?? null);
      talk.send({ jsonrpc: "2.0", id, result: RESULTS[readText(method)] });
    }
  };
  // Spanline may send no further request.
  next().catch(() => {});
}

/** The names of all messages received by the host in a turn. */
async function story(talk: AcpPeer, { project }: AcpProject) {
  answerRequests(talk);
  const { agentCapabilities } = await talk.requestResult("initialize", { protocolVersion: 1 });
  const { sessionId } = await talk.requestResult("session/new", { cwd: project, mcpServers: [] });
  const prompt = [{ type: "text", text: "Go" }];
  await talk.requestResult("session/prompt", { sessionId, prompt });
  const updates = talk.listUpdates(readText(sessionId));
  const names = new Set(updates.map(({ sessionUpdate }) => readText(sessionUpdate)));
  const requests = talk.messages.filter(
    ({ id, method }) => id !== undefined && method !== undefined,
  );
  const harnOf = (value: unknown): object => Object(Object(Object(value)["_meta"])["harn"]);
  return {
    advertised: Object(harnOf(agentCapabilities))["sessionUpdateExtensions"],
    extensions: [...names].filter((name) => !STANDARD.test(name)).sort(),
    requests: [...new Set(requests.map(({ method }) => readText(method)))].sort(),
    calls: requests.flatMap(({ params }) => (isObject(params) ? [params["name"] ?? null] : [])),
    hasAudit: updates.some((update) => "audit" in harnOf(update)),
    hasVisibleText: updates.some(({ content }) => "visible_text" in harnOf(content)),
  };
}

const EVERYTHING = {
  extensions: ["live_session_client", "live_session_permission_route"],
  requests: [
    "builtin_call",
    "host/call",
    "host/tools/list",
    "session/request_permission",
    "skills/list",
  ],
  calls: expect.arrayContaining(["process.list_shells", "Read"]),
  hasAudit: true,
  hasVisibleText: true,
};
const CONFIGURED = { acp: { updates: "bridge" } };

describe("Setting for hosts that cannot declare the bridge protocol", () => {
  it.each([
    ["the flag", {}, ["--updates", "bridge"]],
    ["the configuration", CONFIGURED, []],
  ] as const)(
    "%s enables updates, audit records, visible text, tools, shells and skills on stdio [B-022]",
    TIMEOUT,
    async (_, section, flags) => {
      const here = await world();
      configure(here, section);
      const seen = await story(await spawnWithPipes(command, here, ...flags), here);
      expect(seen).toMatchObject(EVERYTHING);
      expect(seen.advertised).toEqual(expect.arrayContaining(seen.extensions));
    },
  );

  it.each([
    ["the flag", {}, ["--updates", "bridge"]],
    ["the configuration", CONFIGURED, []],
  ] as const)(
    "%s enables the bridge protocol over a WebSocket [B-022]",
    TIMEOUT,
    async (_, section, flags) => {
      const here = await world();
      configure(here, section);
      expect(await story(await spawnWithWebSocket(command, here, ...flags), here)).toMatchObject(
        EVERYTHING,
      );
    },
  );

  it("The flag takes precedence over the configuration [B-022]", TIMEOUT, async () => {
    const here = await world();
    configure(here, CONFIGURED);
    const seen = await story(await spawnWithPipes(command, here, "--updates", "auto"), here);
    expect(seen).toMatchObject({ extensions: [], hasAudit: false, hasVisibleText: false });
    expect(seen.requests).not.toContain("host/tools/list");
    expect(seen.requests).not.toContain("skills/list");
  });

  it("An unknown value of the setting is a configuration error", TIMEOUT, async () => {
    const here = await world();
    configure(here, { acp: { updates: "all" } });
    const args = ["serve", "--port", "0", ...here.args.slice(1)];
    const { status, stderr } = await command.run(args, { environment: here.environment });
    expect(status).toBe(2);
    expect(stderr).toContain('"all" is not a valid acp.updates: expected auto, bridge or standard');
  });
});
