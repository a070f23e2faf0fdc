import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import {
  createLineClient,
  readText,
  type LineClient,
  type Message,
} from "../../support/acp/acp-client.ts";
import { createAcpProject, type AcpProject } from "../../support/acp/acp-project.ts";
import { answerRequests } from "../../support/acp/answer-requests.ts";
import {
  SPAWNED_TRANSPORTS,
  spawnWithPipes,
  type SpawnedPeer,
} from "../../support/acp/spawned-peers.ts";
import { createCommandLine, type CommandLine } from "../../support/command-line.ts";
import { eventually } from "../../support/eventually.ts";
import { says, wants, type ModelServerRequest } from "../../support/server/model-server.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
  await command.bundle("tools/define-tool.ts", "kit/define-tool.mjs");
});
afterAll(() => command.close());

const TIMEOUT = { timeout: 60_000 };

/** A host with only the documented bridge protocol and none of Spanline's options. */
interface SeedHost {
  readonly client: LineClient;
  readonly kill: () => Promise<void>;
}

function hostOn(world: AcpProject): SeedHost {
  const child = world.spawn("--updates", "bridge");
  child.stdin.on("error", () => {});
  const exit = once(child, "close");
  const client = createLineClient(child.stdout, child.stdin);
  client.refuseHostLists();
  return {
    client,
    async kill() {
      child.kill("SIGKILL");
      await exit;
    },
  };
}

/** An agent whose tool records each run and never ends its first run. */
async function worldWithSlowTool(): Promise<{ world: AcpProject; runs: () => string[] }> {
  const world = await createAcpProject(command, {
    workspace: undefined,
    tools: ["./tools.mjs"],
    approvals: { ask: ["*"] },
  });
  const effects = join(world.project, "../effects.txt");
  const facts = `name: "write_file", description: "Writes", input: { type: "object" }`;
  const run = `appendFileSync(${JSON.stringify(effects)}, JSON.stringify(input) + "\\n");
    return context.attempt === 1 ? new Promise(() => {}) : "written";`;
  writeFileSync(
    join(world.project, "../tools.mjs"),
    `import { appendFileSync } from "node:fs";
    import { defineTool } from ${JSON.stringify(join(command.folder, "kit/define-tool.mjs"))};
    export default [defineTool({ ${facts}, run: async (input, context) => { ${run} } })];`,
  );
  // A new file has no line yet.
  const lines = (): string[] =>
    existsSync(effects) ? readFileSync(effects, "utf8").split("\n").filter(Boolean) : [];
  return { world, runs: lines };
}

/** Starts a prompt. The caller waits for its first permission request, or for an endless stream. */
async function begin(world: AcpProject, text: string): Promise<SeedHost & { sessionId: string }> {
  const host = hostOn(world);
  const sessionId = await host.client.newSession(world.project);
  const prompt = [{ type: "text", text }];
  const params = { sessionId, prompt };
  host.client.send({ jsonrpc: "2.0", id: "p", method: "session/prompt", params });
  return { ...host, sessionId };
}

/** The first permission request of the next process after the host loads the session. */
async function askedAfterKill(world: AcpProject, sessionId: string) {
  const host = hostOn(world);
  await host.client.requestResult("initialize", { protocolVersion: 1 });
  await host.client.requestResult("session/load", {
    sessionId,
    cwd: world.project,
    mcpServers: [],
  });
  const request = await host.client.waitForMessage(isPermission);
  const reply = (fields: object): void =>
    host.client.send({ jsonrpc: "2.0", id: request["id"], ...fields });
  return { ...host, params: Object(request["params"]), reply };
}

function isPermission({ method }: Message): boolean {
  return method === "session/request_permission";
}

/** The end of the turn in the update for bridge hosts. */
async function turnEnd(client: LineClient): Promise<unknown> {
  const ended = await client.waitForMessage(({ params }) => isObject(turnIn(params)));
  return turnIn(ended["params"]);
}

function turnIn(params: unknown): unknown {
  return Object(Object(Object(Object(params)["update"])["_meta"])["harn"])["turn"];
}

function lastToolResult(world: AcpProject): string {
  const results = world.model.modelRequests.flatMap(({ messages }) =>
    messages.filter(({ role }) => role === "tool"),
  );
  return JSON.stringify(results.at(-1)?.content);
}

const DENIED = { error: { code: -32601, message: "Method not found" } };
const SELECTED = { result: { outcome: { outcome: "selected" } } };

describe("Host written from the bridge protocol alone", () => {
  it.each([
    ["granted", { result: { granted: true } }, 2, "written"],
    ["a bare selected", SELECTED, 2, "written"],
    ["not granted", { result: { granted: false, reason: "Too late" } }, 1, "is not known"],
    ["method not found", DENIED, 1, "is not known"],
  ])(
    "The host decides about a tool that was running at a kill: %s [B-088] [B-114] [B-116] [B-117]",
    TIMEOUT,
    async (_, answer, count, result) => {
      const { world, runs } = await worldWithSlowTool();
      const { client, sessionId, kill } = await begin(world, "write it down");
      const first = await client.waitForMessage(isPermission);
      client.send({ jsonrpc: "2.0", id: first["id"], result: { granted: true } });
      await eventually(() => expect(runs()).toHaveLength(1));
      await kill();

      const next = await askedAfterKill(world, sessionId);
      const { approvalRequest, policyDecision, toolCall, mutation, declaredPaths } = next.params;
      const before = Object(first["params"]);
      const reason =
        "write_file was running when the bridge was killed. It may already have run; allowing runs it again.";
      expect(approvalRequest).toEqual({
        ...before.approvalRequest,
        action: "write_file may already have run; allowing runs it again",
        attempt: 2,
        requested_at: expect.any(String),
        deadline: expect.any(String),
        undo_metadata: {
          ...before.approvalRequest.undo_metadata,
          policy_decision: policyDecision,
        },
      });
      expect(policyDecision).toMatchObject({
        type: "harn.permission_policy_decision.v1",
        action: "ask",
        reason: expect.stringContaining(reason),
        context: before.policyDecision.context,
      });
      expect(toolCall).toMatchObject({
        toolCallId: approvalRequest.id,
        toolName: "write_file",
        rawInput: { path: "note.txt", content: "write it down" },
      });
      expect([mutation, declaredPaths]).toEqual([before.mutation, before.declaredPaths]);
      next.reply(answer);
      expect(await turnEnd(next.client)).toMatchObject({ result: { stopReason: "end_turn" } });
      expect(runs()).toHaveLength(count);
      expect(lastToolResult(world)).toContain(result);
      await next.kill();
    },
  );

  it.each([
    ["granted", { result: { granted: true } }, { result: { stopReason: "end_turn" } }, 2],
    ["a bare selected", SELECTED, { result: { stopReason: "end_turn" } }, 2],
    ["not granted", { result: { granted: false } }, { error: {} }, 1],
    ["method not found", DENIED, { error: {} }, 1],
  ])(
    "The host decides about an invocation lost at a kill: %s [B-088] [B-114] [B-116] [B-117]",
    TIMEOUT,
    async (_, answer, end, invocations) => {
      const world = await createAcpProject(command, { onLost: "ask" });
      const { client, sessionId, kill } = await begin(world, "wait for me");
      await client.waitForMessage(
        ({ params }) => JSON.stringify(params)?.includes("One moment") ?? false,
      );
      await kill();

      const next = await askedAfterKill(world, sessionId);
      const { approvalRequest, policyDecision, toolCall, declaredPaths } = next.params;
      expect(approvalRequest).toEqual({
        id: toolCall.toolCallId,
        action: expect.stringContaining("allowing continues the conversation"),
        args: {},
        attempt: 2,
        principal: "coder",
        requested_at: expect.any(String),
        deadline: expect.any(String),
        approvers_required: 1,
        evidence_refs: [],
        undo_metadata: {
          session_id: sessionId,
          run_id: expect.any(String),
          worker_id: null,
          mutation_scope: "apply_workspace",
          policy_decision: policyDecision,
        },
        capabilities_requested: [],
      });
      expect(policyDecision).toMatchObject({ action: "ask", matched_rule: null });
      expect(toolCall).toMatchObject({ toolName: "continue_turn", rawInput: {} });
      expect(declaredPaths).toEqual([]);
      next.reply(answer);
      expect(await turnEnd(next.client)).toMatchObject(end);
      expect(world.model.modelRequests).toHaveLength(invocations);
      await next.kill();
    },
  );
});

/** The skills of the host, by id, as in the documentation of the protocol. */
const SKILLS = {
  deploy: {
    name: "deploy",
    description: "Ship it",
    body: "# Deploy runbook\n...",
    manifest: { when_to_use: "...", allowed_tools: ["bash", "git"], paths: ["infra/**"] },
  },
  "acme/ops/review": { name: "review", description: "Code review", body: "# Review runbook" },
};

/** A project whose model loads a skill, depending on the prompt. */
function worldWithSkills(): Promise<AcpProject> {
  return createAcpProject(command, { approvals: { allow: ["*"] } }, ({ messages }) => {
    const last = messages.at(-1);
    const skill = JSON.stringify(last?.content).includes("review") ? "acme/ops/review" : "deploy";
    return last?.role === "tool"
      ? says("It is done.")
      : wants({ id: "s", name: "load_skill", input: { skill } });
  });
}

/** Serves the skills. `fetch: false` leaves fetches without a reply. */
function serveSkills(host: SpawnedPeer, { ids = Object.keys(SKILLS), fetch = true } = {}): void {
  const store = new Map<string, (typeof SKILLS)["acme/ops/review"]>(Object.entries(SKILLS));
  answerRequests(host, "skills/list", () => ({
    result: ids.flatMap((id) => {
      const { name, description } = store.get(id) ?? {};
      return name === undefined ? [] : [{ id, name, description, source: "host" }];
    }),
  }));
  answerRequests(host, "skills/fetch", ({ params }) => {
    const skill = store.get(String(Object(params)["id"]));
    if (!fetch) return undefined;
    return skill === undefined
      ? { error: { code: -32602, message: "Unknown skill" } }
      : { result: skill };
  });
  const error = { code: -32601, message: "Method not found" };
  for (const method of ["host/tools/list", "host/call"])
    answerRequests(host, method, () => ({ error }));
}

/** The skills in the description of the tool `load_skill` in a model request. */
function listOfferedSkills(request: ModelServerRequest | undefined): string[] {
  const tools: unknown = Object(request)["tools"];
  return (Array.isArray(tools) ? tools : []).flatMap((tool: unknown) => {
    const { name, description } = Object(Object(tool)["function"]);
    return name === "load_skill" ? String(description).split("\n").slice(1) : [];
  });
}

function requestsOf(host: SpawnedPeer, wanted: string): unknown[] {
  return host.messages.flatMap(({ method, params }) => (method === wanted ? [params] : []));
}

describe("Skills of a host written from the bridge protocol alone", () => {
  it.each(SPAWNED_TRANSPORTS)(
    "Skills are listed, loaded and listed again after a change between turns over %s [B-255] [B-256] [B-257] [B-259] [B-262] [B-263]",
    TIMEOUT,
    async (_, spawn) => {
      const world = await worldWithSkills();
      const host = await spawn(command, world, "--updates", "bridge");
      const ids = ["deploy"];
      serveSkills(host, { ids });
      const sessionId = await host.newSession(world.project);
      const run = (text: string) =>
        host.requestResult("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
      await run("Ship it");
      expect(lastToolResult(world)).toContain("# Deploy runbook");
      ids.push("acme/ops/review");
      host.send({ jsonrpc: "2.0", method: "skills/update" });
      await run("A review, please");
      expect(lastToolResult(world)).toContain("# Review runbook");
      expect(requestsOf(host, "skills/list")).toEqual([{}, {}]);
      expect(requestsOf(host, "skills/fetch")).toEqual([
        { id: "deploy" },
        { id: "acme/ops/review" },
      ]);
      const { modelRequests } = world.model;
      expect(listOfferedSkills(modelRequests[0])).toEqual(["- deploy: Ship it"]);
      expect(listOfferedSkills(modelRequests.at(-1))).toEqual([
        "- deploy: Ship it",
        "- acme/ops/review (review): Code review",
      ]);
      await host.kill();
    },
  );

  it.each(SPAWNED_TRANSPORTS.slice(0, 2))(
    "A fetch that was open at a kill is repeated when the host returns over %s, and the turn ends",
    TIMEOUT,
    async (_, spawn) => {
      const world = await worldWithSkills();
      const killed = await spawn(command, world, "--updates", "bridge");
      serveSkills(killed, { fetch: false });
      const sessionId = readText(await killed.newSession(world.project));
      const prompt = [{ type: "text", text: "Ship it" }];
      void killed.request("session/prompt", { sessionId, prompt });
      await killed.waitForMessage(({ method }) => method === "skills/fetch");
      await killed.kill();

      const host = await spawn(command, world, "--updates", "bridge");
      serveSkills(host);
      await host.requestResult("initialize", { protocolVersion: 1 });
      const setup = { sessionId, cwd: world.project, mcpServers: [] };
      await host.requestResult("session/load", setup);
      const ended = await host.waitForMessage(({ params }) => isObject(turnIn(params)));
      expect(turnIn(ended["params"])).toMatchObject({ result: { stopReason: "end_turn" } });
      expect(lastToolResult(world)).toContain("# Deploy runbook");
      expect(requestsOf(host, "session/request_permission")).toEqual([]);
      await host.kill();
    },
  );

  it(
    "Hosts of two processes offer their skills in one session, also after a kill of the owner",
    TIMEOUT,
    async () => {
      const world = await worldWithSkills();
      const first = await spawnWithPipes(command, world, "--updates", "bridge");
      serveSkills(first, { ids: ["deploy"] });
      const sessionId = await first.newSession(world.project);
      const second = await spawnWithPipes(command, world, "--updates", "bridge");
      serveSkills(second, { ids: ["acme/ops/review"] });
      await second.requestResult("initialize", { protocolVersion: 1 });
      const setup = { sessionId, cwd: world.project, mcpServers: [] };
      await second.requestResult("session/load", setup);
      const run = (host: SpawnedPeer, text: string) =>
        host.requestResult("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
      await run(first, "A review, please");
      expect(lastToolResult(world)).toContain("# Review runbook");
      expect(requestsOf(first, "skills/fetch")).toEqual([]);
      expect(listOfferedSkills(world.model.modelRequests.at(-1))).toHaveLength(2);
      await first.kill();

      const attach = { sessionId, clientId: "second", mode: "controller" };
      await second.requestResult("session/attach", attach);
      await run(second, "A review, please");
      expect(requestsOf(second, "skills/fetch")).toHaveLength(2);
      await run(second, "Ship it");
      expect(lastToolResult(world)).toContain('Skill \\"deploy\\" does not exist');
      await second.kill();
    },
  );
});
