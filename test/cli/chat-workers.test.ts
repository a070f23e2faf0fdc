import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCommandLine, type CommandLine } from "../support/command-line.ts";
import { startInTerminal } from "../support/terminal-session.ts";
import {
  hangs,
  says,
  startModelServer,
  wants,
  type ScriptedResponse,
} from "../support/server/model-server.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

/** A worker which delegates to a further worker; the last one never ends. */
function respond(text: string, isResult: boolean): ScriptedResponse {
  if (text.includes("Read the files")) return hangs("Reading");
  if (isResult) return says("Started.");
  const input = text.includes("Review the patch")
    ? { task: "Read the files", name: "reader", agent: "helper" }
    : { task: "Review the patch", name: "captain", agent: "coder", background: true };
  return wants({ id: "d", name: "delegate", input });
}

describe("spanline chat with workers", () => {
  it("/workers shows the tree of open workers, and an unknown id gets an error", async () => {
    const { url } = await startModelServer("chat", ({ messages }) => {
      const last = messages.at(-1);
      return respond(JSON.stringify(last), last?.role === "tool");
    });
    const helper = {
      provider: { type: "local", model: "openai:scripted" },
      environment: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: { env: "MY_KEY" } },
      approvals: { allow: ["*"] },
    };
    const agents = { coder: { ...helper, workers: { agents: ["coder", "helper"] } }, helper };
    const config = join(command.folder, "workers.config.json");
    writeFileSync(config, JSON.stringify({ agents }));
    const data = join(command.folder, "workers");
    const args = ["chat", "-d", data, "--config", config];
    const environment = { MY_KEY: "sk-test" };
    const person = startInTerminal(command, args, { environment, columns: 160 });
    await person.waitForText("New session ");
    person.typeKeys("/workers\r");
    await person.waitForText("No worker is open.");
    person.typeKeys("Go\r");
    await person.waitForText("Started.");
    const [captain = "", reader = ""] = await showWorkers(person);
    expect(captain).toMatch(/^captain {2}running {2}worker_\w+ {2}ses_\w+$/);
    expect(reader).toMatch(/^ {2}reader {2}running {2}worker_\w+ {2}ses_\w+$/);
    const [, readerId = ""] = /(worker_\w+)/.exec(reader) ?? [];
    person.typeKeys(`/workers ${readerId}\r`);
    await person.waitForText(`› /workers ${readerId}`);
    await person.waitForText("reader  running");
    person.typeKeys("/workers worker_wrong\r");
    await person.waitForText('Worker "worker_wrong" does not exist in this session: expected');
  });
});

/** Repeats `/workers` until the worker of the worker is shown. Returns the rows of both. */
async function showWorkers(person: ReturnType<typeof startInTerminal>): Promise<string[]> {
  for (;;) {
    person.typeKeys("/workers\r");
    await person.waitForText("captain  running");
    const rows = person.screen.filter((row) => /^ *(?:captain|reader) {2}running/.test(row));
    const last = rows.findLastIndex((row) => row.includes("reader"));
    if (last > 0) return rows.slice(last - 1, last + 1);
  }
}
