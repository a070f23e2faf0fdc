import { describe, expect, it, onTestFinished } from "vitest";
import type { JsonObject } from "../../src/data/json.ts";
import { createHost, type HostOptions, type QuestionRequest } from "../../src/host/index.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { createAskUserTool } from "../../src/tools/ask-user-tool.ts";
import { createHostClient } from "../support/acp/host-client.ts";
import { createScriptedProvider, says, wants } from "../support/session/scripted-provider.ts";
import { createAgent, openSessions } from "../support/session/session-world.ts";

/** Runs a turn with a question. Returns the result received by the model. */
async function ask(input: JsonObject, options: HostOptions): Promise<string> {
  const provider = createScriptedProvider([
    wants({ id: "c1", name: "ask_user", input }),
    says("Thank you."),
  ]);
  const askUser = { waitMs: 86_400_000 };
  const agent = createAgent({ provider, tools: [createAskUserTool()], askUser });
  const sessions = openSessions(createMemoryStore(), agent);
  onTestFinished(() => sessions.close());
  const { client } = createHostClient(sessions, { host: createHost(options) });
  await client.initialize();
  const { sessionId } = await client.newSession({ workingDirectory: "/work" });
  await client.prompt(sessionId, "Go").result;
  return JSON.stringify(provider.invocations[1]?.input);
}

describe("Questions to a program with the host SDK", () => {
  it("The question callback receives the question with its fields, and its answer reaches the model [W-48]", async () => {
    const questions: QuestionRequest[] = [];
    const result = await ask(
      { question: "Which?", options: ["red", "blue"], default: "red" },
      {
        question(question) {
          questions.push(question);
          return { answer: "blue" };
        },
      },
    );
    expect(result).toContain('"blue"');
    expect(questions).toMatchObject([
      {
        id: expect.stringMatching(/^hitl_question_/),
        toolCallId: expect.stringMatching(/^tool_/),
        message: "Which?",
        fields: [
          {
            name: "answer",
            label: "Answer",
            type: "string",
            isRequired: true,
            choices: [
              { value: "red", label: "red" },
              { value: "blue", label: "blue" },
            ],
            default: "red",
          },
        ],
      },
    ]);
  });

  it("The callback answers a form with an object, or declines the question", async () => {
    const properties = {
      city: { type: "string", title: "City" },
      room: { type: "string", oneOf: [{ const: "s", title: "Single" }] },
    };
    const input = { question: "Book?", schema: { type: "object", properties } };
    expect(
      await ask(input, { question: () => ({ answer: { city: "Bern", room: "s" } }) }),
    ).toContain(String.raw`{\"city\":\"Bern\",\"room\":\"s\"}`);
    expect(await ask(input, { question: () => "decline" })).toContain("declined to answer");
  });

  it("An approval of the agent goes to the permission callback", async () => {
    const input = { question: "Deploy?", kind: "approval" };
    const question: HostOptions["question"] = () => "decline";
    expect(await ask(input, { question, permission: () => "allow" })).toContain(
      String.raw`{\"approved\":true}`,
    );
    expect(await ask(input, { question, permission: () => ({ deny: "No" }) })).toContain(
      "Not approved",
    );
  });

  it("A failing callback is not an answer: the question waits for another client", async () => {
    let count = 0;
    const reports: string[] = [];
    const provider = createScriptedProvider([
      wants({ id: "c1", name: "ask_user", input: { question: "Which?" } }),
      says("Thank you."),
    ]);
    const askUser = { waitMs: 86_400_000 };
    const agent = createAgent({ provider, tools: [createAskUserTool()], askUser });
    const sessions = openSessions(createMemoryStore(), agent);
    onTestFinished(() => sessions.close());
    const failing = createHost({
      question() {
        count += 1;
        throw new Error("no window");
      },
      report: (message) => void reports.push(message),
    });
    const { client } = createHostClient(sessions, { host: failing });
    await client.initialize();
    const { sessionId } = await client.newSession({ workingDirectory: "/work" });
    const run = client.prompt(sessionId, "Go");
    const host = createHost({ question: () => ({ answer: "Bern" }) });
    const second = createHostClient(sessions, { host });
    await second.client.initialize();
    await second.client.loadSession(sessionId, { workingDirectory: "/work" });
    await second.client.attach(sessionId, {
      clientId: "second",
      mode: "controller",
      takeOver: true,
    });
    await run.result;
    expect(JSON.stringify(provider.invocations[1]?.input)).toContain("Bern");
    expect([count, reports]).toEqual([1, ["A request failed"]]);
  });
});
