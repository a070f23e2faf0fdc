import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createCommandLine, type CommandLine } from "../support/command-line.ts";
import { startInTerminal, type TerminalSession } from "../support/terminal-session.ts";
import {
  hangs,
  says,
  startModelServer,
  wants,
  type ModelServerRequest,
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
    const person = startChat(url, "tree");
    await person.waitForText("New session ");
    person.typeKeys("/workers\r");
    await person.waitForText("No worker is open.");
    person.typeKeys("Go\r");
    await person.waitForText("Started.");
    const [captain = "", reader = ""] = await showWorkers(person);
    expect(captain).toMatch(/^1\. captain {2}running {2}worker_\w+ {2}ses_\w+$/);
    expect(reader).toMatch(/^ {4}reader {2}running {2}worker_\w+ {2}ses_\w+$/);
    const [, readerId = ""] = /(worker_\w+)/.exec(reader) ?? [];
    person.typeKeys(`/workers ${readerId}\r`);
    await person.waitForText(`› /workers ${readerId}`);
    await person.waitForText("reader  running");
    for (const line of [`/close ${readerId}`, `/trigger ${readerId} Go`]) {
      person.typeKeys(`${line}\r`);
      await person.waitForText("This worker belongs to captain (worker_");
    }
    person.typeKeys("/workers worker_wrong\r");
    await person.waitForText('Worker "worker_wrong" does not exist in this session: expected');
  });

  it("A person starts, triggers and closes workers by name, position and id, and sees the first line of each result", async () => {
    const { url } = await startModelServer("chat", respondToPerson);
    const person = startChat(url, "commands");
    let seen = 0;
    /** Types a line, and waits for the replies in this order. A reply may wrap. */
    const type = async (line: string, ...replies: readonly string[]): Promise<void> => {
      person.typeKeys(`${line}\r`);
      for (const words of [`› ${line}`, ...replies]) {
        await eventually(() => {
          const text = person.output.replaceAll(/\s+/g, " ");
          const at = text.indexOf(words, seen);
          if (at === -1) throw new Error(`"${words}" is not shown: ${text.slice(seen)}`);
          seen = at + words.length;
        });
      }
    };
    await person.waitForText("New session ");
    await type("/delegate", "/delegate needs an argument: /delegate TASK.");
    await type("/close captain", 'Worker "captain" does not exist in this session.');
    await type(
      "/delegate Review it",
      "Started worker_",
      ": running",
      "⑂ result of Review it: Fine.",
    );
    await type("Go", "Started.");
    await eventually(() => expect(person.output).toContain("⑂ result of captain: Fine."));
    await type("/workers", "1. captain awaiting_input worker_");
    await type("/trigger captain", "/trigger needs a worker and a text: /trigger WORKER TEXT");
    await type(
      "/trigger pirate Go",
      'Worker "pirate" does not exist',
      'expected "captain" or "worker_',
    );
    await type("/trigger 1 Look again", "Triggered captain (worker_", "): running");
    await eventually(() => expect(person.output).toContain("⑂ result of captain: Seen twice."));
    await type("/delegate Wait here", "Started worker_");
    await type(
      "/trigger Wait here now",
      "is running. Fix: trigger the worker when it awaits input",
    );
    await type(
      "/close work",
      '"work" names several workers: captain (worker_',
      ", Wait here (worker_",
    );
    const watcher = startChat(url, "commands", "--session", "latest", "--observe");
    await watcher.waitForText("watching; /takeover");
    watcher.typeKeys("/close captain\r");
    await watcher.waitForText("You are watching. /takeover takes control; then you can start");
    await type("/workers", "1. captain awaiting_input worker_", "2. Wait here running worker_");
    await type("/close captain", "Closed captain (worker_");
    // The remaining worker keeps its number until the next list.
    await type("/close 1", 'Worker "1" does not exist in this session: expected "Wait here"');
    await type("/close 2", "Closed Wait here (worker_");
    await eventually(() => expect(person.output).toContain("⑂ worker Wait here: cancelled"));
    await type("/workers", "No worker is open.");
    const results = person.screen.filter((row) => row.startsWith("⑂ result of "));
    expect(results).toEqual([
      "⑂ result of Review it: Fine.",
      "⑂ result of captain: Fine.",
      "⑂ result of captain: Seen twice.",
    ]);
  });
});

/** Starts a chat with the agent `coder`, whose workers are `coder` and `helper`, in a data directory of its own. */
function startChat(url: string, name: string, ...args: readonly string[]): TerminalSession {
  const helper = {
    provider: { type: "local", model: "openai:scripted" },
    environment: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: { env: "MY_KEY" } },
    approvals: { allow: ["*"] },
  };
  const agents = { coder: { ...helper, workers: { agents: ["helper", "coder"] } }, helper };
  const config = join(command.folder, `${name}.config.json`);
  writeFileSync(config, JSON.stringify({ agents }));
  const data = join(command.folder, name);
  const environment = { MY_KEY: "sk-test" };
  const options = { environment, columns: 160 };
  return startInTerminal(command, ["chat", "-d", data, "--config", config, ...args], options);
}

/** An agent with one retriggerable worker. The worker of the task "Wait here" never ends. */
function respondToPerson({ messages, tools }: ModelServerRequest): ScriptedResponse {
  const last = messages.at(-1);
  const text = JSON.stringify(last);
  if (!JSON.stringify(tools ?? []).includes('"delegate"')) {
    if (text.includes("Wait here")) return hangs("Waiting");
    return says(text.includes("Look again") ? "Seen twice.\nDetails" : "Fine.\nDetails");
  }
  const input = { task: "Watch", name: "captain", background: true, retriggerable: true };
  return last?.role === "tool" ? says("Started.") : wants({ id: "d", name: "delegate", input });
}

/** Repeats `/workers` until the worker of the worker is shown. Returns the rows of both. */
async function showWorkers(person: TerminalSession): Promise<string[]> {
  for (;;) {
    person.typeKeys("/workers\r");
    await person.waitForText("captain  running");
    const rows = person.screen.filter((row) => /^(?:1\. captain| *reader) {2}running/.test(row));
    const last = rows.findLastIndex((row) => row.includes("reader"));
    if (last > 0) return rows.slice(last - 1, last + 1);
  }
}
