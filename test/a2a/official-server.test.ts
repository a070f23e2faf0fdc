import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { defineTool } from "../../src/tools/define-tool.ts";
import { says, wants, type ProviderScript } from "../support/session/scripted-provider.ts";
import { REQUESTS, type ComparedRequest, type Prepared } from "./support/compared-requests.ts";
import { describeResponse } from "./support/describe-response.ts";
import { DIFFERENCES } from "./support/explained-differences.ts";
import { serveOfficial } from "./support/official-server.ts";
import { createMessage, serveA2a } from "./support/serve-a2a.ts";

interface Server {
  readonly url: string;
  readonly fetch: typeof fetch;
}

/** Both servers have the same card, and an agent which replies, and needs input after "pay". */
async function serveBoth(): Promise<readonly [spanline: Server, official: Server]> {
  const pay = defineTool({
    name: "pay",
    description: "Pays",
    input: { type: "object" },
    run: () => "paid",
  });
  const agent = { tools: [pay], approvals: { ask: ["pay"] } };
  const spanline = await serveA2a([replyOrPay], { agent });
  const card: unknown = await (await fetch(`${spanline.url}/.well-known/agent-card.json`)).json();
  return [spanline, { ...(await serveOfficial(card)), fetch }];
}

const replyOrPay: ProviderScript = (signal, invocation) => {
  const text = JSON.stringify(invocation.input);
  const needsInput = text.includes('"pay"') && !text.includes('"paid"');
  return (needsInput ? wants({ id: "c1", name: "pay" }) : says("Hi"))(signal, invocation);
};

const NO_TASK: Prepared = { id: "", contextId: "" };

async function prepare(server: Server, state: ComparedRequest["needs"]): Promise<Prepared> {
  if (state === undefined) return NO_TASK;
  const params = { message: createMessage(state === "open" ? "pay" : "Hello") };
  const response = await server.fetch(`${server.url}/a2a`, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params }),
  });
  return (await response.json()).result.task;
}

async function describeAnswer(server: Server, request: ComparedRequest): Promise<string> {
  const { needs, method, path, headers, body } = request;
  const task = await prepare(server, needs);
  const sent = body?.(task);
  const text = typeof sent === "string" ? sent : JSON.stringify(sent);
  const init = { method, headers, ...(sent !== undefined && { body: text }) };
  return describeResponse(await server.fetch(`${server.url}${path(task)}`, init));
}

const explained = new Map(DIFFERENCES.flatMap(({ requests }) => Object.entries(requests)));

// The official server logs the errors of clients.
beforeEach(() => {
  vi.spyOn(console, "error").mockReturnValue();
  vi.spyOn(console, "warn").mockReturnValue();
  return () => vi.restoreAllMocks();
});

describe("Spanline and the official server", () => {
  it.each(REQUESTS.filter(({ title }) => !explained.has(title)))(
    "The responses to $title are equal",
    async (request) => {
      const [spanline, official] = await serveBoth();
      expect(await describeAnswer(spanline, request)).toBe(await describeAnswer(official, request));
    },
  );

  it.each(REQUESTS.filter(({ title }) => explained.has(title)))(
    "The responses to $title differ as explained",
    async (request) => {
      const [spanline, official] = await serveBoth();
      const [ours = "", theirs = ""] = explained.get(request.title) ?? [];
      const answer = await describeAnswer(spanline, request);
      const officialAnswer = await describeAnswer(official, request);
      const starts = [answer.slice(0, ours.length), officialAnswer.slice(0, theirs.length)];
      expect(starts).toEqual([ours, theirs]);
      expect(answer).not.toBe(officialAnswer);
    },
  );

  it("Every explained difference belongs to a request, and is a row of the conformance page", () => {
    const titles = REQUESTS.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
    expect([...explained.keys()].filter((title) => !titles.includes(title))).toEqual([]);
    const page = readFileSync(join(import.meta.dirname, "../../docs/conformance/a2a.md"), "utf8");
    const [, section = ""] = page.split("## The official server");
    const [table = ""] = section.split("\n## ");
    const rows = [...table.matchAll(/^\| (?!difference|---)(.*?) \|/gm)].map(([, topic]) => topic);
    expect(rows).toEqual(DIFFERENCES.map(({ topic }) => topic));
    expect(section).toContain(`${titles.length} requests`);
    expect(section).toContain(`to ${explained.size} of them`);
  });
});
