import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/data/json.ts";
import type { ServeAcpOptions } from "../../../src/surfaces/acp/connection/serve-acp.ts";
import {
  connectAcpClient,
  readText,
  type AcpClient,
  type Message,
} from "../../support/acp/acp-client.ts";
import { answerRequests } from "../../support/acp/answer-requests.ts";
import { eventually } from "../../support/eventually.ts";
import { advanceUntil, createFakeClock } from "../../support/fake-clock.ts";
import {
  createClientToolSessions,
  type ClientToolSessions,
} from "../../support/session/client-tool-sessions.ts";
import { says, wants } from "../../support/session/scripted-provider.ts";

const DEPLOY = { id: "deploy", name: "deploy", description: "Ship it", source: "host" };
const REVIEW = {
  id: "acme/ops/review",
  name: "review",
  description: "Code review",
  source: "host",
};
const BODY = "# Review runbook\nRead the diff twice.";
const SETUP = { cwd: "/work", mcpServers: [] };
const HOST = { _meta: { harn: { skills: true } } };
const LIST = "skills/list";
const FETCH = "skills/fetch";
const UPDATE = { jsonrpc: "2.0", method: "skills/update" };

function loads(skill: JsonValue): readonly ReturnType<typeof says>[] {
  return [wants({ id: "c1", name: "load_skill", input: { skill } }), says("Done.")];
}

/** A host with the skills that `list` returns at each request. Undefined: the host does not reply. */
async function hostOf(
  world: ClientToolSessions,
  list: () => object | undefined = () => ({ result: [DEPLOY, REVIEW] }),
  options: Partial<ServeAcpOptions> = {},
): Promise<AcpClient> {
  // The fake clock keeps a slow machine from causing timeouts.
  const client = await connectAcpClient(world.sessions, { clock: createFakeClock(), ...options });
  answerRequests(client, LIST, list);
  await client.request("initialize", { clientCapabilities: HOST });
  return client;
}

async function opened(client: AcpClient): Promise<string> {
  return readText((await client.requestResult("session/new", SETUP))["sessionId"]);
}

function prompt(sessionId: string, text = "Go"): object {
  return { sessionId, prompt: [{ type: "text", text }] };
}

function requestsOf(client: AcpClient, method: string): readonly Message[] {
  return client.messages.filter((message) => message["method"] === method);
}

/** The lines of `load_skill` about skills, for each configuration of the agent which has the tool. */
async function catalogs(world: ClientToolSessions, sessionId: string): Promise<string[]> {
  return (await world.readLog(sessionId)).flatMap(({ event }) => {
    if (event.type !== "agent.configured") return [];
    const tool = event.spec.tools.find(({ name }) => name === "load_skill");
    return [tool?.description.split("\n").slice(1).join("; ") ?? "none"];
  });
}

async function problems(world: ClientToolSessions, sessionId: string): Promise<string[]> {
  return (await world.readLog(sessionId)).flatMap(({ event }) =>
    event.type === "diagnostic.raised" ? [event.diagnostic.message] : [],
  );
}

describe("Skills of a host", () => {
  it.each([
    ["an array and a flat skill", [DEPLOY, REVIEW], { body: BODY, paths: ["src/**"] }],
    ["an object and a nested skill", { skills: [DEPLOY, REVIEW] }, { body: BODY, manifest: {} }],
  ])(
    "The model loads a skill by its id, which is a path and not its name: %s [B-255] [B-256] [B-257] [B-258] [B-259] [B-260]",
    async (_, list, fields) => {
      const world = createClientToolSessions(loads("acme/ops/review"));
      const client = await hostOf(world, () => ({ result: list }));
      const sessionId = await opened(client);
      answerRequests(client, FETCH, () => ({
        result: { name: "review", description: "Code review", ...fields },
      }));
      expect(await client.requestResult("session/prompt", prompt(sessionId))).toEqual({
        stopReason: "end_turn",
      });
      expect(await catalogs(world, sessionId)).toEqual([
        "none",
        "- deploy: Ship it; - acme/ops/review (review): Code review",
      ]);
      expect(requestsOf(client, LIST).map(({ params }) => params)).toEqual([{}]);
      expect(requestsOf(client, FETCH).map(({ params }) => params)).toEqual([
        { id: "acme/ops/review" },
      ]);
      expect(await world.listResults(sessionId)).toEqual([BODY]);
      expect(client.notes).toEqual([]);
    },
  );

  it("A rule that denies load_skill keeps the skill from being fetched", async () => {
    const approvals = { deny: ["load_skill"], ask: [], allow: ["*"], default: "ask" } as const;
    const world = createClientToolSessions(loads("deploy"), { approvals });
    const client = await hostOf(world);
    const sessionId = await opened(client);
    await client.requestResult("session/prompt", prompt(sessionId));
    const log = await world.readLog(sessionId);
    const decisions = log.flatMap(({ event }) =>
      event.type === "policy.decided" ? [event.decision.action] : [],
    );
    expect(decisions).toEqual(["deny"]);
    expect(requestsOf(client, FETCH)).toEqual([]);
  });

  it.each([
    ["nothing", 'Skill "nothing" does not exist: expected "deploy" or "acme/ops/review"'],
    ["__proto__", 'Skill "__proto__" does not exist'],
    [7, "its arguments are wrong. 7 is not a valid skill"],
  ])("The unknown skill %j is a tool error, and the host is not asked", async (skill, problem) => {
    const world = createClientToolSessions(loads(skill));
    const client = await hostOf(world);
    const sessionId = await opened(client);
    expect(await client.requestResult("session/prompt", prompt(sessionId))).toEqual({
      stopReason: "end_turn",
    });
    expect((await world.listResults(sessionId)).join()).toContain(problem);
    expect(requestsOf(client, FETCH)).toEqual([]);
  });

  it.each([
    [{ error: { code: -32602, message: "No such skill" } }, "on the host: No such skill"],
    [{ error: { code: -32601, message: "?" } }, 'The host does not have the skill "deploy"'],
    [{ result: null }, 'The host does not have the skill "deploy"'],
    [{ result: { name: "deploy" } }, "skills/fetch cannot be read: it has no body"],
    [{ result: { body: "x".repeat(1024 * 1024 + 1) } }, "has more than 1048576 characters"],
  ])("A failed fetch is a tool error and the turn continues (case %#)", async (reply, problem) => {
    const world = createClientToolSessions(loads("deploy"));
    const client = await hostOf(world);
    const sessionId = await opened(client);
    answerRequests(client, FETCH, () => reply);
    expect(await client.requestResult("session/prompt", prompt(sessionId))).toEqual({
      stopReason: "end_turn",
    });
    expect((await world.listResults(sessionId)).join()).toContain(`load_skill failed: `);
    expect((await world.listResults(sessionId)).join()).toContain(problem);
  });

  it("An invalid or duplicate skill is reported once and does not affect the others", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const entries = [{}, DEPLOY, { ...DEPLOY, name: "other" }, REVIEW];
    const client = await hostOf(world, () => ({ result: entries }));
    const sessionId = await opened(client);
    client.send(UPDATE);
    await client.requestResult("session/prompt", prompt(sessionId));
    await client.requestResult("session/load", { sessionId, ...SETUP });
    expect(await problems(world, sessionId)).toEqual([
      "Skill 0 of skills/list cannot be used: it has no id",
      'Skill 2 of skills/list cannot be used: it has the duplicate id "deploy"',
    ]);
    expect(requestsOf(client, LIST)).toHaveLength(2);
    expect((await catalogs(world, sessionId)).at(-1)).toContain("- deploy: Ship it; - acme");
  });

  it("Hostile skills leave a bounded description and cost few events", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const entries = [
      { id: "__proto__", name: "constructor", description: "d".repeat(10 * 1024 * 1024) },
      { id: "bidi\u202E", name: "bidi" },
      { id: "ok", name: "\u202Eevil\nname", description: "two\nlines\u200B" },
      ...Array.from({ length: 10_000 }, (_, index) => ({ id: `s${index}`, name: "Same name" })),
    ];
    const client = await hostOf(world, () => ({ result: entries }));
    const sessionId = await opened(client);
    const [, listed = ""] = await catalogs(world, sessionId);
    expect(listed.length).toBeLessThan(20_000);
    expect(listed).toMatch(
      /^- __proto__ \(constructor\): d{499}…; - ok \(evil name\): two lines; /,
    );
    expect(listed).toMatch(/\(\d+ more skills are not listed here\)$/);
    expect(await problems(world, sessionId)).toHaveLength(2);
  });

  it("Two hosts of a session offer their skills in one tool, and each skill is fetched from its host", async () => {
    const world = createClientToolSessions([
      wants(
        { id: "c1", name: "load_skill", input: { skill: "deploy" } },
        { id: "c2", name: "load_skill", input: { skill: "notes" } },
      ),
      says("Done."),
    ]);
    const first = await hostOf(world, () => ({ result: [DEPLOY] }));
    const sessionId = await opened(first);
    const entries = [
      { ...DEPLOY, description: "Another" },
      { id: "notes", name: "notes" },
    ];
    const second = await hostOf(world, () => ({ result: entries }));
    await second.requestResult("session/load", { sessionId, ...SETUP });
    for (const [client, body] of [
      [first, "of the first"],
      [second, "of the second"],
    ] as const)
      answerRequests(client, FETCH, () => ({ result: { body } }));
    await first.requestResult("session/prompt", prompt(sessionId));
    expect((await catalogs(world, sessionId)).at(-1)).toBe("- deploy: Ship it; - notes");
    expect(await world.listResults(sessionId)).toEqual(["of the first", "of the second"]);
    expect(await problems(world, sessionId)).toEqual([
      'Another client of the session offers skills with the same ids; its skills are used: "deploy"',
    ]);
    first.socket.destroy();
    await eventually(async () =>
      expect((await catalogs(world, sessionId)).at(-1)).toBe("- deploy: Another; - notes"),
    );
  });
});

describe("Changed skills of a host", () => {
  it("Between turns the list is requested again, and the next turn has the new skills [B-262] [B-263]", async () => {
    const world = createClientToolSessions([says("Hi")]);
    let skills = [DEPLOY];
    const client = await hostOf(world, () => ({ result: skills }));
    const sessionId = await opened(client);
    skills = [REVIEW];
    client.send({ ...UPDATE, method: "_harn/skills/update", params: {} });
    // Sent without waiting for the list.
    await client.requestResult("session/prompt", prompt(sessionId));
    const log = await world.readLog(sessionId);
    const turn = log.findIndex(({ event }) => event.type === "turn.started");
    const configured = log.findLastIndex(({ event }) => event.type === "agent.configured");
    expect(configured).toBeLessThan(turn);
    expect((await catalogs(world, sessionId)).at(-1)).toBe(
      "- acme/ops/review (review): Code review",
    );
  });

  it("During a turn the list is requested only after the end of the turn, once for all changes [B-263]", async () => {
    const world = createClientToolSessions([...loads("deploy"), says("Next.")]);
    let skills = [DEPLOY];
    const client = await hostOf(world, () => ({ result: skills }));
    const sessionId = await opened(client);
    const turn = client.request("session/prompt", prompt(sessionId));
    const fetch = await client.waitForMessage(({ method }) => method === FETCH);
    skills = [REVIEW];
    for (let index = 0; index < 1000; index += 1) client.send(UPDATE);
    // The response shows that every notification was handled.
    await client.requestResult("session/list");
    client.send({ jsonrpc: "2.0", id: fetch["id"], result: { body: BODY } });
    const response = await turn;
    const again = await client.waitForMessage((one) => one === requestsOf(client, LIST)[1]);
    const position = (message: Message | undefined): number =>
      client.messages.indexOf(message ?? {});
    expect(position(again)).toBeGreaterThan(position(response));
    await eventually(async () =>
      expect((await catalogs(world, sessionId)).at(-1)).toContain("- acme/ops/review"),
    );
    await client.requestResult("session/prompt", prompt(sessionId));
    expect(requestsOf(client, LIST)).toHaveLength(2);
    expect(await world.listResults(sessionId)).toEqual([BODY]);
  });

  it("A host that removed the method has no skills any more", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const replies: object[] = [{ result: [DEPLOY] }, { error: { code: -32601, message: "?" } }];
    const client = await hostOf(world, () => replies.shift());
    const sessionId = await opened(client);
    client.send(UPDATE);
    await client.requestResult("session/prompt", prompt(sessionId));
    expect((await catalogs(world, sessionId)).slice(1)).toEqual(["- deploy: Ship it", "none"]);
  });

  it("Without an active bridge the notification is ignored without an error [B-264]", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const client = await connectAcpClient(world.sessions);
    client.send(UPDATE);
    const sessionId = await client.newSession();
    client.send(UPDATE);
    client.send({ ...UPDATE, method: "_harn/skills/update" });
    await client.requestResult("session/prompt", prompt(sessionId));
    expect(requestsOf(client, LIST)).toEqual([]);
    expect(client.messages.filter((message) => "error" in message)).toEqual([]);
    expect(client.notes).toEqual([]);
    expect(await catalogs(world, sessionId)).toEqual(["none"]);
  });

  it("A host that does not reply delays a prompt by at most 5 seconds, keeps its skills, and delays no other host", async () => {
    const clock = createFakeClock();
    const world = createClientToolSessions([says("Hi")], { clock });
    const replies: object[] = [{ result: [DEPLOY] }];
    const client = await hostOf(world, () => replies.shift(), { clock });
    const sessionId = await opened(client);
    client.send(UPDATE);
    await client.waitForMessage((one) => one === requestsOf(client, LIST)[1]);
    const late = client.requestResult("session/prompt", prompt(sessionId));
    const other = await hostOf(world, () => ({ result: [REVIEW] }), { clock });
    // The clock stands still.
    await other.requestResult("session/prompt", prompt(await opened(other)));
    const start = clock.monotonic();
    await advanceUntil(clock, late);
    expect(clock.monotonic() - start).toBeLessThanOrEqual(5000);
    expect((await catalogs(world, sessionId)).at(-1)).toBe("- deploy: Ship it");
    expect(requestsOf(client, "$/cancel_request")).toHaveLength(1);
    await client.requestResult("session/prompt", prompt(sessionId));
    expect(requestsOf(client, LIST)).toHaveLength(2);
  });

  it("A host without any reply to the first request delays a session by at most 5 seconds", async () => {
    const clock = createFakeClock();
    const world = createClientToolSessions([says("Hi")], { clock });
    const client = await hostOf(world, () => undefined, { clock });
    const start = clock.monotonic();
    const session = opened(client);
    await advanceUntil(clock, session);
    expect(clock.monotonic() - start).toBeLessThanOrEqual(5000);
    expect(await catalogs(world, await session)).toEqual(["none"]);
  });
});

describe("A fetch of a skill while its host is disconnected", () => {
  it.each([
    ["unchanged skills", [DEPLOY, REVIEW], BODY],
    ["changed skills", [DEPLOY], BODY],
    ["no such skill", [REVIEW], 'Skill "deploy" does not exist'],
  ])("The fetch is repeated when the host returns with %s", async (_, skills, result) => {
    const world = createClientToolSessions(loads("deploy"));
    const client = await hostOf(world);
    const sessionId = await opened(client);
    void client.request("session/prompt", prompt(sessionId));
    await client.waitForMessage(({ method }) => method === FETCH);
    client.socket.destroy();
    await client.done;
    const back = await hostOf(world, () => ({ result: skills }));
    answerRequests(back, FETCH, () => ({ result: { body: BODY } }));
    await back.requestResult("session/resume", { sessionId, ...SETUP });
    await eventually(async () =>
      expect((await world.readLog(sessionId)).map(({ event }) => event.type)).toContain(
        "turn.finished",
      ),
    );
    expect((await world.listResults(sessionId)).join()).toContain(result);
    expect(requestsOf(back, "session/request_permission")).toEqual([]);
  });
});
