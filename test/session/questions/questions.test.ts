import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/data/json.ts";
import type { SessionCommand } from "../../../src/domain/session-command.ts";
import { createAskUserTool } from "../../../src/tools/ask-user-tool.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";
import {
  createScriptedProvider,
  says,
  wants,
  type ScriptedProvider,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  ME,
  openWorld,
  type AgentParts,
  type SessionWorld,
} from "../../support/session/session-world.ts";

const DAY_MS = 86_400_000;

interface AskedWorld {
  readonly world: SessionWorld;
  readonly provider: ScriptedProvider;
  readonly clock: FakeClock;
  /** The id of the request. */
  readonly id: string;
}

/** A turn with two steps: the first step asks a person, and the second step ends the turn. */
async function ask(input: JsonObject, parts: Partial<AgentParts> = {}): Promise<AskedWorld> {
  const clock = createFakeClock();
  const provider = createScriptedProvider([
    wants({ id: "c1", name: "ask_user", input }),
    says("Thank you."),
  ]);
  const agent = createAgent({
    provider,
    tools: [createAskUserTool()],
    askUser: { waitMs: DAY_MS },
    ...parts,
  });
  const world = await openWorld(agent, { clock });
  await world.prompt("Go");
  const { approvalId } = await world.waitForEvent("approval.requested");
  return { world, provider, clock, id: approvalId };
}

function answer(
  { world, id }: AskedWorld,
  fields: Partial<Extract<SessionCommand, { type: "decide-approval" }>>,
  principal = "me",
) {
  return world.send(
    { type: "decide-approval", approvalId: id, ...fields },
    { principal: { ...ME, id: principal } },
  );
}

/** The result which the model got for its question. */
async function readResult({ world, provider }: AskedWorld): Promise<JsonValue | undefined> {
  await world.waitForEvent("turn.finished");
  const { input } = provider.invocations[1] ?? {};
  const results = input?.type === "results" ? input.results : [];
  return results.map(({ parts, isError }) => [
    isError,
    ...parts.map((part) => (part.type === "text" ? part.text : part.type)),
  ])[0];
}

const FORM = {
  type: "object",
  properties: {
    city: { type: "string", minLength: 2 },
    nights: { type: "integer", minimum: 1, maximum: 30 },
    extras: { type: "array", items: { enum: ["breakfast", "parking"] } },
    room: { type: "string", oneOf: [{ const: "s", title: "Single" }, { const: "d" }] },
    late: { type: "boolean" },
  },
  required: ["city", "nights"],
} as const satisfies JsonObject;

describe("A question of the agent", () => {
  it("The answer of a person is the result of ask_user, and the request has the id of its kind [B-093]", async () => {
    const question = await ask({ question: "Which city?" });
    expect(question.id).toMatch(/^hitl_question_/);
    expect(await question.world.listEvents("approval.requested")).toMatchObject([
      {
        question: "question",
        action: "Which city?",
        options: ["answer", "decline"],
        form: { kind: "question", text: "Which city?" },
        deadline: question.clock.now() + DAY_MS,
        decision: { action: "ask", labels: ["question"] },
      },
    ]);
    expect(await answer(question, { answer: "Zürich" })).toEqual({ status: "accepted" });
    expect(await readResult(question)).toEqual([false, "Zürich"]);
    expect(await question.world.listEvents("approval.resolved")).toMatchObject([
      { decision: "answer", resolvedBy: "person", answer: "Zürich" },
    ]);
    expect(await question.world.listEvents("tool.started")).toEqual([]);
  });

  it("A question needs no separate approval, and a rule that denies the tool still denies the question", async () => {
    const approvals = { deny: [], ask: ["ask_user"], allow: [], default: "ask" } as const;
    const question = await ask({ question: "Which city?" }, { approvals });
    expect(await question.world.listEvents("policy.decided")).toEqual([]);
    await answer(question, { answer: "Bern" });
    expect(await readResult(question)).toEqual([false, "Bern"]);

    const provider = createScriptedProvider([
      wants({ id: "c1", name: "ask_user", input: { question: "Which city?" } }),
      says("Well."),
    ]);
    const denied = createAgent({
      provider,
      tools: [createAskUserTool()],
      askUser: { waitMs: DAY_MS },
      approvals: { ...approvals, deny: ["ask_user"] },
    });
    const world = await openWorld(denied);
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("approval.requested")).toEqual([]);
    expect(await world.listEvents("tool.finished")).toMatchObject([{ ending: "denied" }]);
  });

  it("The time limit of a turn is paused while a question is open", async () => {
    const question = await ask({ question: "Which city?" }, { caps: { seconds: 60 } });
    question.clock.advance(DAY_MS - 1);
    await answer(question, { answer: "Bern" });
    expect(await question.world.waitForEvent("turn.finished")).toMatchObject({
      outcome: "completed",
    });
  });

  it("An answer must be one of the options, and any other answer leaves the question open", async () => {
    const question = await ask({ question: "Which?", options: ["red", "blue"] });
    expect(await answer(question, { answer: "green" })).toMatchObject({
      status: "refused",
      failure: { code: "invalid_option", details: { path: "answer" } },
    });
    expect(await answer(question, { approved: true })).toMatchObject({ status: "refused" });
    expect(await answer(question, {})).toMatchObject({ status: "refused" });
    expect(await answer(question, { decision: "allow" })).toMatchObject({ status: "refused" });
    await answer(question, { answer: "blue" });
    expect(await readResult(question)).toEqual([false, "blue"]);
  });

  it.each<[JsonValue, string]>([
    ["Bern", "expected an object"],
    [{ city: "Bern" }, '"nights" is missing'],
    [{ city: "B", nights: 1 }, "at least 2 characters"],
    [{ city: "Bern", nights: 1.5 }, "expected an integer"],
    [{ city: "Bern", nights: 31 }, "at most 30"],
    [{ city: "Bern", nights: 1, extras: ["pool"] }, 'list of "breakfast" or "parking"'],
    [{ city: "Bern", nights: 1, room: "x" }, 'expected "s" or "d"'],
    [{ city: "Bern", nights: 1, late: "yes" }, "true or false"],
    [{ city: "Bern", nights: 1, other: 1 }, 'Key "other" does not exist in the form'],
  ])("The answer %j to a form is refused: %s", async (given, problem) => {
    const question = await ask({ question: "Book?", schema: FORM });
    const reply = await answer(question, { answer: given });
    expect(reply).toMatchObject({ status: "refused" });
    expect(JSON.stringify(reply)).toContain(JSON.stringify(problem).slice(1, -1));
    expect(await question.world.listEvents("approval.resolved")).toEqual([]);
  });

  it("The answer to a form is the result as JSON", async () => {
    const question = await ask({ question: "Book?", schema: FORM });
    await answer(question, { answer: { city: "Bern", nights: 2, extras: ["parking"], room: "s" } });
    expect(await readResult(question)).toEqual([
      false,
      '{"city":"Bern","nights":2,"extras":["parking"],"room":"s"}',
    ]);
  });

  it("A declined question is an error result with the reason of the person", async () => {
    const question = await ask({ question: "Which city?" });
    await answer(question, { approved: false, reason: "Ask later" });
    expect(await readResult(question)).toEqual([
      true,
      "The person declined to answer. The reason given: Ask later",
    ]);
  });

  it("An unanswered question returns its default answer at the deadline [R-098]", async () => {
    const question = await ask({
      question: "Which?",
      options: ["a", "b"],
      default: "b",
      timeout_seconds: 60,
    });
    question.clock.advance(60_000);
    expect(await readResult(question)).toEqual([
      false,
      "No answer arrived in time. The default answer applies: b",
    ]);
    expect(await question.world.listEvents("approval.resolved")).toMatchObject([
      { resolvedBy: "deadline", decision: "decline" },
    ]);
    expect(await answer(question, { answer: "a" })).toMatchObject({
      failure: { code: "conflict" },
    });
  });

  it("An unanswered question without a default returns an error result about the missing answer", async () => {
    const question = await ask({ question: "Which?" });
    question.clock.advance(DAY_MS);
    expect(await readResult(question)).toEqual([
      true,
      "No answer arrived in time. Continue without the answer, or end your turn.",
    ]);
    expect(await question.world.listEvents("tool.finished")).toMatchObject([
      { ending: "timed-out" },
    ]);
  });

  it("A question cannot wait for longer than the agent's definition allows", async () => {
    const question = await ask({ question: "Which?", timeout_seconds: 9_000_000 });
    expect(await question.world.listEvents("approval.requested")).toMatchObject([
      { deadline: question.clock.now() + DAY_MS },
    ]);
  });

  it.each<[string, JsonObject, string]>([
    ["no question", {}, "question"],
    ["two forms of answers", { question: "?", options: ["a", "b"], schema: FORM }, "together"],
    [
      "a default outside the options",
      { question: "?", options: ["a", "b"], default: "c" },
      "default",
    ],
    ["a repeated option", { question: "?", options: ["a", "a"] }, "options"],
    ["a schema that is not a form", { question: "?", schema: { type: "string" } }, "schema"],
    [
      "a keyword that is not enforced",
      {
        question: "?",
        schema: { type: "object", properties: { a: { type: "string", pattern: "x" } } },
      },
      "pattern",
    ],
    [
      "dual control by one person",
      { question: "?", kind: "dual_control", approvers: 1 },
      "approvers",
    ],
    [
      "an approval with options",
      { question: "?", kind: "approval", options: ["a", "b"] },
      "approval",
    ],
  ])("A call with %s is an error result, and no person is asked", async (_, input, word) => {
    const provider = createScriptedProvider([
      wants({ id: "c1", name: "ask_user", input }),
      says("Well."),
    ]);
    const tools = [createAskUserTool()];
    const world = await openWorld(createAgent({ provider, tools, askUser: { waitMs: DAY_MS } }));
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("approval.requested")).toEqual([]);
    const [finished] = await world.listEvents("tool.finished");
    expect(finished).toMatchObject({ ending: "refused", result: { isError: true } });
    expect(JSON.stringify(finished)).toContain(word);
  });

  it("A question stays open after the turn has used up its tool calls", async () => {
    const provider = createScriptedProvider([
      wants(
        { id: "c1", name: "ask_user", input: { question: "Which?" } },
        { id: "c2", name: "look" },
      ),
      says("Well."),
    ]);
    const look = createTool({ name: "look" }, () => "seen");
    const tools = [createAskUserTool(), look];
    const agent = createAgent({
      provider,
      tools,
      askUser: { waitMs: DAY_MS },
      caps: { toolCalls: 1, parallelTools: 1 },
    });
    const world = await openWorld(agent);
    await world.prompt("Go");
    const { approvalId } = await world.waitForEvent("approval.requested");
    await world.waitForEvent("tool.finished");
    await world.send({ type: "decide-approval", approvalId, answer: "Bern" });
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
  });
});

describe("Approvals, dual control and escalations of the agent", () => {
  it("An approval is answered with a plain yes", async () => {
    const question = await ask({ question: "Deploy?", kind: "approval" });
    expect(question.id).toMatch(/^hitl_approval_/);
    await answer(question, { approved: true, reviewer: "Ada", reason: "Go" });
    expect(await readResult(question)).toEqual([false, '{"approved":true,"reason":"Go"}']);
    expect(await question.world.listEvents("approval.resolved")).toMatchObject([
      { answer: true, reviewer: "Ada" },
    ]);
  });

  it("An approval is denied with a plain no, which the model sees as an error", async () => {
    const question = await ask({ question: "Deploy?", kind: "approval" });
    await answer(question, { answer: false });
    expect(await readResult(question)).toEqual([true, "Not approved."]);
  });

  it("Dual control counts distinct principals, and a reviewer's name does not make another person [W-09] [R-098]", async () => {
    const question = await ask({ question: "Deploy?", kind: "dual_control" });
    expect(question.id).toMatch(/^hitl_dual_control_/);
    expect(await answer(question, { approved: true })).toEqual({ status: "accepted" });
    expect(await answer(question, { approved: true, reviewer: "Bob" })).toMatchObject({
      failure: { code: "conflict" },
    });
    expect(await question.world.listEvents("approval.resolved")).toEqual([]);
    await answer(question, { approved: true }, "you");
    expect(await readResult(question)).toEqual([
      false,
      '{"approved":true,"reviewers":["me","you"]}',
    ]);
  });

  it("A question for several people is answered when enough of them give the same answer", async () => {
    const question = await ask({ question: "Which?", options: ["a", "b"], approvers: 2 });
    await answer(question, { answer: "a" }, "one");
    await answer(question, { answer: "b" }, "two");
    await answer(question, { answer: "b" }, "one");
    expect(await question.world.listEvents("approval.voted")).toMatchObject([
      { principal: "one", answer: "a" },
      { principal: "two", answer: "b" },
    ]);
    expect(await readResult(question)).toEqual([false, "b"]);
  });

  it("An escalation has no deadline and cannot be declined: it waits until a person accepts [R-098]", async () => {
    const question = await ask({ question: "Please take over", kind: "escalation" });
    expect(question.id).toMatch(/^hitl_escalation_/);
    question.clock.advance(1000 * DAY_MS);
    expect(await answer(question, { approved: false })).toMatchObject({ status: "refused" });
    expect(await answer(question, { approved: true })).toEqual({ status: "accepted" });
    expect(await readResult(question)).toEqual([false, '{"accepted":true}']);
  });

  it("A sender without the right to approve cannot answer", async () => {
    const question = await ask({ question: "Which?" });
    const reply = await question.world.send(
      { type: "decide-approval", approvalId: question.id, answer: "x" },
      { principal: { id: "guest", rights: ["prompt"] } },
    );
    expect(reply).toMatchObject({ failure: { code: "access_denied" } });
  });
});
