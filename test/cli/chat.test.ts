import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  createCommandLine,
  waitForOutput,
  type CommandLine,
  type CommandResult,
  type StartOptions,
} from "../support/command-line.ts";
import { eventually } from "../support/eventually.ts";
import { createGate, type Gate } from "../support/gate.ts";
import { startInTerminal, type TerminalSession } from "../support/terminal-session.ts";
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

let count = 0;
/** Creates a separate data directory for each test. */
function place(): { readonly data: string; chat: (...args: string[]) => TerminalSession } {
  const data = join(command.folder, `chat-${(count += 1)}`);
  return { data, chat: (...args) => startInTerminal(command, ["chat", "-d", data, ...args]) };
}

/** Runs the command in a shell, including redirections of standard input. */
async function inShell(line: string): Promise<CommandResult> {
  const program = `exec '${process.execPath}' bin/main.mjs`;
  const child = spawn("sh", ["-c", `${program} ${line}`], {
    cwd: command.folder,
    env: { PATH: process.env["PATH"], HOME: command.folder },
  });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  return { stdout, stderr, status: typeof status === "number" ? status : null };
}

/** Returns the output below the last open question. */
function farewellOf({ screen }: TerminalSession): string {
  const said = screen.slice(screen.findLastIndex((row) => row.startsWith("  n  Deny")) + 1);
  return said.join(" ").trim();
}

/** Creates a data directory with a scripted agent. */
function scripted(...answers: readonly ScriptedResponse[]) {
  return scriptAgent({}, answers);
}

async function scriptAgent(agent: object, answers: readonly ScriptedResponse[]) {
  const { data } = place();
  const { url, modelRequests } = await startModelServer("chat", answers);
  const environment = { MY_KEY: "sk-test" };
  const provider = { type: "local", model: "openai:scripted" };
  const settings = { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: { env: "MY_KEY" } };
  const coder = { provider, environment: settings, ...agent };
  const config = `${data}.config.json`;
  writeFileSync(config, JSON.stringify({ agents: { coder } }));
  const chat = (...args: string[]) =>
    startInTerminal(command, ["chat", "-d", data, ...args], { environment });
  return { data, config, environment, chat, modelRequests };
}

/** Starts a bridge in a separate process. */
async function startUp(data: string, options: StartOptions & { readonly config?: string } = {}) {
  const { config, ...more } = options;
  const args = ["up", "-d", data, "--port", "0", "--json"];
  const given = config === undefined ? args : [...args, "--config", config];
  const child = command.start(given, { isOpen: true, ...more });
  const { url, link, sessionId } = JSON.parse(await waitForOutput(child.stdout, "\n"));
  const token = new URL(link).searchParams.get("token") ?? "";
  return { child, url: String(url), token, sessionId: String(sessionId) };
}

/** A response sent when the gate opens. */
function saysAfter(gate: Gate, answer: string): ScriptedResponse {
  return (dialect) => (response, request) =>
    void gate.pass().then(() => says(answer)(dialect)(response, request));
}

interface Cuttable {
  readonly url: string;
  cut(): void;
  /** Disconnects and refuses connections. Resolves after this number of attempts. */
  refuse(count: number): Promise<void>;
  accept(): void;
}

/** Starts a proxy between a chat and its bridge, for interrupting the connection. */
async function cuttable(target: string): Promise<Cuttable> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let isOpen = true;
  let tried = (): void => {};
  const server = createServer((inner) => {
    if (!isOpen) {
      inner.destroy();
      return tried();
    }
    const outer = connect(Number(port), hostname);
    open.add(inner);
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const socket of open) socket.destroy();
    open.clear();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/acp`,
    cut,
    refuse(count) {
      isOpen = false;
      let left = count;
      const refused = new Promise<void>((resolve) => {
        tried = () => void ((left -= 1) === 0 && resolve());
      });
      cut();
      return refused;
    },
    accept() {
      isOpen = true;
    },
  };
}

describe("spanline chat in a terminal", () => {
  it("A chat prints the agent's text, asks before a tool runs, and leaves the session", async () => {
    const { data, chat } = place();
    const person = chat();
    await person.waitForText("New session ");
    person.typeKeys("What is 2 + 3?\r");
    await person.waitForText("That is 5.");
    person.typeKeys("Please save a note: buy milk\r");
    const asked = await person.waitForText("Run save_note? [y/a/n] ");
    expect(asked).toContain("── Spanline asks ──");
    expect(asked).toContain('save_note {"text":"buy milk"}');
    expect(asked).toContain("Why: The policy (require_approval, entry 1) asks about save_note");
    // Enter alone never approves.
    person.typeKeys("\r");
    await person.waitForText("Please answer with one of these.");
    person.typeKeys("sure\r");
    await person.waitForText("Please answer with one of these.");
    person.typeKeys("y\r");
    await person.waitForText("✓ ");
    await person.waitForText("Done. save_note says");
    expect(readFileSync(join(data, "notes.txt"), "utf8")).toBe("buy milk\n");
    person.typeKeys("\u0004");
    await person.waitForText("Come back with: ");
    expect(await person.exitCode).toBe(0);
    expect(person.screen.slice(2, 8)).toEqual([
      "",
      "› What is 2 + 3?",
      "",
      "That is 5.",
      "",
      "› Please save a note: buy milk",
    ]);
  });

  it("A resumed chat shows the history and continues", async () => {
    const { chat } = place();
    const first = chat();
    await first.waitForText("New session ");
    first.typeKeys("My name is Ada.\r");
    await first.waitForText("Ada");
    await first.waitForText("› ");
    first.typeKeys("/exit\r");
    expect(await first.exitCode).toBe(0);
    const again = chat("--resume");
    await again.waitForText("Session ses_");
    await again.waitForText("› My name is Ada.");
    again.typeKeys("What is 2 + 3?\r");
    await again.waitForText("That is 5.");
  });

  it("A question left open is asked again in the next chat, without an error", async () => {
    const { data, chat } = place();
    const first = chat();
    await first.waitForText("New session ");
    first.typeKeys("Please save a note: buy milk\r");
    await first.waitForText("Run save_note? [y/a/n] ");
    first.typeKeys("\u0004");
    expect(await first.exitCode).toBe(0);
    expect(farewellOf(first)).toMatch(
      /^The turn continues when the session is resumed\. Come back with: [^;✗]*$/,
    );
    const again = chat("--session", "latest");
    await again.waitForText("● save_note buy milk");
    await again.waitForText("Run save_note? [y/a/n] ");
    again.typeKeys("\u0004");
    expect(await again.exitCode).toBe(0);
    expect(farewellOf(again)).toBe(farewellOf(first));
    const last = chat("--resume");
    await last.waitForText("Run save_note? [y/a/n] ");
    last.typeKeys("y\r");
    await last.waitForText("Done. save_note says");
    expect(readFileSync(join(data, "notes.txt"), "utf8")).toBe("buy milk\n");
  });

  it("Commands are available while an approval waits for its answer", async () => {
    const { chat } = place();
    const person = chat();
    await person.waitForText("New session ");
    person.typeKeys("Please save a note: buy milk\r");
    await person.waitForText("Run save_note? [y/a/n] ");
    person.typeKeys("/pending\r");
    await person.waitForText("Nothing is pending.");
    person.typeKeys("/workers\r");
    await person.waitForText("No worker is open.");
    person.typeKeys("/pendign\r");
    await person.waitForText('Command "/pendign" does not exist');
    person.typeKeys("/status\r");
    await person.waitForText("It runs when the turn ends. The question above is still open.");
    await eventually(() => expect(person.screen.at(-1)).toContain("Run save_note? [y/a/n]"));
    person.typeKeys("y\r");
    await person.waitForText("Done. save_note says: Saved");
    await person.waitForText("Mode: `default`");
  });

  it("A late answer to an approval that another client decided is not sent to the agent", async () => {
    const { data, chat } = place();
    const { sessionId } = await startUp(data);
    const person = chat("--session", sessionId);
    await person.waitForText("Session ses_");
    person.typeKeys("Please save a note: buy milk\r");
    await person.waitForText("Run save_note? [y/a/n] ");
    const decision = ["sessions", "answer", sessionId, "--deny", "-d", data];
    expect(await command.run(decision)).toMatchObject({ status: 0 });
    await person.waitForText("The request is closed: another client decided");
    await person.waitForText("✗ denied");
    person.typeKeys("y\r");
    await person.waitForText("Not sent: y");
    await person.waitForText("The approval is no longer open.");
    // The same line is a prompt at the second entry.
    person.typeKeys("y\r");
    await person.waitForText('I heard you: "y"');
    expect(person.screen.filter((row) => /^(?:Not sent|› y|I heard)/.test(row))).toEqual([
      "Not sent: y",
      "› y",
      expect.stringMatching(/^I heard you: "y"/),
    ]);
  });

  it("A line typed during a turn steers it, and appears in the conversation when the agent receives it [B-168] [ACP-114]", async () => {
    const gate = createGate();
    onTestFinished(() => gate.open());
    const { chat, config } = await scripted(
      saysAfter(gate, "First."),
      says("Metric it is."),
      says("Third."),
    );
    const person = chat("--config", config);
    await person.waitForText("New session ");
    person.typeKeys("Go\r");
    await person.waitForText("working, Ctrl-C cancels");
    person.typeKeys("Use metric units\r");
    await person.waitForText("· steering: Use metric units");
    person.typeKeys("/queue And then this\r");
    await person.waitForText("· next: And then this");
    person.typeKeys("/queue Not this\r");
    await person.waitForText("· next: Not this");
    person.typeKeys("/remind Be brief\r");
    await person.waitForText("The agent receives it with its next request");
    person.typeKeys("/pending\r");
    await person.waitForText("4. reminder  Be brief");
    person.typeKeys("/edit 1 Use metric units only\r");
    await person.waitForText("Changed: Use metric units only");
    person.typeKeys("/edit 4 Be long\r");
    await person.waitForText("Entry 4 is a reminder.");
    person.typeKeys("/edit 9 Be long\r");
    await person.waitForText("/pending has no entry 9.");
    person.typeKeys("/revoke 3\r");
    await person.waitForText("Revoked: Not this");
    person.typeKeys("/revoke 9\r");
    await person.waitForText("/pending has no entry 9.");
    gate.open();
    await person.waitForText("Third.");
    const conversation = /^(?:\d\. |› [^/]|First|Metric|Third|Revoked)/;
    expect(person.screen.filter((row) => conversation.test(row))).toEqual([
      "› Go",
      "1. steer  Use metric units",
      "2. queue  And then this",
      "3. queue  Not this",
      "4. reminder  Be brief",
      "Revoked: Not this",
      "First.",
      "› Use metric units only",
      "Metric it is.",
      "› And then this",
      "Third.",
    ]);
  });

  it("A question of the agent is shown with its options, a form field by field, and an answer reaches the agent", async () => {
    const choice = { question: "Which city?", options: ["Bern", "Basel"] };
    const properties = { name: { type: "string" }, nights: { type: "integer", minimum: 1 } };
    const form = {
      question: "Whose room?",
      schema: { type: "object", properties, required: ["nights"] },
    };
    const other = { question: "Anything else?" };
    const { chat, config, modelRequests } = await scriptAgent({ askUser: true }, [
      wants({ id: "c1", name: "ask_user", input: choice }),
      wants({ id: "c2", name: "ask_user", input: form }),
      wants({ id: "c3", name: "ask_user", input: other }),
      says("Booked."),
    ]);
    const person = chat("--config", config);
    await person.waitForText("New session ");
    person.typeKeys("Book a room\r");
    await person.waitForText("Answer: ");
    expect(person.screen.map((row) => row.trim())).toEqual(
      expect.arrayContaining(["── The agent asks ──", "Which city?", "1  Bern", "2  Basel"]),
    );
    person.typeKeys("3\r");
    await person.waitForText("Answer: ");
    person.typeKeys("2\r");
    await person.waitForText("name: ");
    person.typeKeys("Ada\r");
    await person.waitForText("nights: ");
    person.typeKeys("some\r");
    await person.waitForText("Please answer with a whole number. nights: ");
    person.typeKeys("2\r");
    await person.waitForText("Anything else?");
    await person.waitForText("Answer: ");
    person.typeKeys("/decline\r");
    await person.waitForText("Booked.");
    const results = modelRequests
      .at(-1)
      ?.messages.filter(({ role }) => role === "tool")
      .map(({ content }) => String(content));
    expect(results).toEqual([
      "Basel",
      '{"name":"Ada","nights":2}',
      expect.stringContaining("declined"),
    ]);
  });

  it("/skip stops the running tool call, and the turn continues", async () => {
    const policy = { rules: [{ allow: { tool: "run_command" } }] };
    const { chat, config, modelRequests } = await scriptAgent({ workspace: true, policy }, [
      wants({ id: "c1", name: "run_command", input: { command: "echo started; sleep 600" } }),
      says("I will not wait."),
    ]);
    const person = chat("--config", config);
    await person.waitForText("New session ");
    person.typeKeys("/skip\r");
    await person.waitForText("No tool call is running.");
    person.typeKeys("Go\r");
    await person.waitForText("run_command");
    person.typeKeys("/skip\r");
    await person.waitForText("Stopped: ");
    await person.waitForText("I will not wait.");
    const results = modelRequests.at(-1)?.messages.filter(({ role }) => role === "tool");
    expect(JSON.stringify(results)).toContain("a person cancelled this tool call");
  });

  it("A budget on the command line pauses each turn with a question, and the answer continues the turn", async () => {
    const { chat, config, modelRequests } = await scripted(
      wants({ id: "c1", name: "missing", input: {} }),
      says("Done."),
    );
    const wrong = chat("--config", config, "--budget", "token=1");
    await wrong.waitForText("--budget is not valid");
    const person = chat("--config", config, "--budget", "invocations=1");
    await person.waitForText("New session ");
    person.typeKeys("Go\r");
    await person.waitForText("This turn has used 1 of 1 invocation");
    await person.waitForText("Continue? [y/n] ");
    expect(modelRequests).toHaveLength(1);
    person.typeKeys("y\r");
    await person.waitForText("Done.");
    expect(modelRequests).toHaveLength(2);
  });

  it("An agent that is not a daemon cannot be resumed, and the help names the commands for a running turn", async () => {
    const { chat, config } = await scripted(says("Hello."));
    const person = chat("--config", config);
    await person.waitForText("New session ");
    person.typeKeys("/resume\r");
    await person.waitForText("The agent is not a daemon.");
    person.typeKeys("/steer\r");
    await person.waitForText("/steer needs an argument: /steer TEXT.");
    person.typeKeys("/help\r");
    await person.waitForText("/queue TEXT");
    person.typeKeys("/steer Hi\r");
    await person.waitForText("Hello.");
    expect(person.screen.filter((row) => row === "› Hi")).toHaveLength(1);
  });

  it("Ctrl-C cancels the turn, warns once, and then leaves", async () => {
    const { chat } = place();
    const person = chat();
    await person.waitForText("New session ");
    person.typeKeys("Please save a note: buy milk\r");
    await person.waitForText("Run save_note? ");
    person.typeKeys("\u0003");
    await person.waitForText("Cancelled.");
    const below = person.screen.slice(
      person.screen.findLastIndex((row) => row.startsWith("  n  Deny")),
    );
    expect(below.slice(1).filter((row) => /\w/.test(row))).toEqual([
      expect.stringMatching(/^ {2}✗ cancelled/),
      "Cancelled.",
    ]);
    person.typeKeys("\u0003");
    await person.waitForText("Press Ctrl-C again to leave");
    person.typeKeys("\u0003");
    await person.waitForText("Come back with: ");
    expect(await person.exitCode).toBe(130);
  });

  it("The input line is restored after a question, without the partly typed answer", async () => {
    const { chat } = place();
    const person = chat();
    await person.waitForText("New session ");
    person.typeKeys("Please save a note: buy milk\rWhat is 2 + 3?");
    await person.waitForText("Run save_note? [y/a/n] ");
    person.typeKeys("ye");
    await person.waitForText("ye");
    person.typeKeys("\u0003");
    await person.waitForText("Cancelled.");
    person.typeKeys("\r");
    expect(await person.waitForText("That is 5.")).toContain("› What is 2 + 3?\n");
    expect(person.screen).toContain("› What is 2 + 3?");
  });

  it("A chat with an unknown session exits, as without a terminal", async () => {
    const { chat } = place();
    const person = chat("--session", "ses_nothing");
    await person.waitForText("list the sessions of");
    expect(await person.exitCode).toBe(2);
    expect(person.output).not.toContain("/help");
  });

  it("Continued lines and pasted text are one prompt", async () => {
    const { chat } = place();
    const person = chat();
    await person.waitForText("New session ");
    person.typeKeys("What is \\\r");
    await person.waitForText("… ");
    person.typeKeys("2 + 3?\r");
    expect(await person.waitForText("That is 5.")).toContain("› What is\n  2 + 3?");
    person.typeKeys("\u001b[200~What is\n4 + 4?\u001b[201~\r");
    expect(await person.waitForText("That is 8.")).toContain("› What is\n  4 + 4?");
  });

  it("One client observes while another controls, and a takeover is reported to both [ACP-121] [ACP-122]", async () => {
    const { chat } = place();
    const one = chat();
    await one.waitForText("New session ");
    one.typeKeys("What is 2 + 3?\r");
    await one.waitForText("That is 5.");
    const two = chat("--session", "latest", "--observe");
    await two.waitForText("That is 5.");
    await two.waitForText("watching; /takeover to take part");
    two.typeKeys("What is 4 + 4?\r");
    await two.waitForText("Not sent: What is 4 + 4?");
    await two.waitForText("/takeover takes control; then you can send it");
    two.typeKeys("/takeover\r");
    await two.waitForText("You control this session now.");
    await one.waitForText("Another client took control");
    expect(one.output).not.toContain("4 + 4");
    // The rejected text is offered again.
    await two.waitForText("› What is 4 + 4?");
    two.typeKeys("\r");
    await two.waitForText("That is 8.");
    const seen = await one.waitForText("That is 8.");
    expect(seen).toContain("› What is 4 + 4?");
  });

  it("A takeover during a question is reported to the former controller, and an observer cannot cancel", async () => {
    const { chat } = place();
    const one = chat();
    await one.waitForText("New session ");
    const two = chat("--session", "latest", "--observe");
    await two.waitForText("watching; /takeover to take part");
    one.typeKeys("Please save a note: buy milk\r");
    await one.waitForText("Run save_note? ");
    await two.waitForText("● save_note buy milk");
    await two.waitForText("● save_note waits for approval by its controller");
    two.typeKeys("/cancel\r");
    await two.waitForText("You are watching and cannot cancel the turn. /takeover takes control");
    two.typeKeys("/takeover\r");
    await two.waitForText("Run save_note? ");
    await one.waitForText("Not answered: another client has taken control and is asked now.");
    const below = await one.waitForText("· watching; /takeover to take part");
    expect(below).toContain("· working\n");
    expect(below).not.toContain("Ctrl-C cancels");
    one.typeKeys("\u0003");
    await one.waitForText("Press Ctrl-C again to leave");
    two.typeKeys("y\r");
    await one.waitForText("Done. save_note says");
  });

  it.each([
    ["another client", () => {}],
    ["a client that died", ({ child }: TerminalSession) => void child.kill("SIGKILL")],
  ])(
    "After a takeover from %s the turn can be cancelled, and a queued prompt is reported as not sent",
    async (_, leave) => {
      const code = hangs("Here:\n\n```js\nconst one = 1;\nconst val");
      const { data, chat, ...place } = await scripted(code, says("That is all."));
      const { sessionId } = await startUp(data, place);
      const one = chat("--session", sessionId);
      await one.waitForText("Session ses_");
      const two = chat("--session", sessionId, "--observe");
      await two.waitForText("watching; /takeover to take part");
      one.typeKeys("Write it\r");
      await two.waitForText("const val");
      await two.waitForText("· working\n· watching");
      leave(one);
      two.typeKeys("/takeover\r");
      await two.waitForText("You control this session now.");
      await two.waitForText("· working, Ctrl-C cancels");
      two.typeKeys("and then this\r");
      await two.waitForText("· steering: and then this");
      two.typeKeys("\u0003");
      await two.waitForText("Not sent: and then this");
      await two.waitForText("Cancelled.");
      two.typeKeys("Go on\r");
      await two.waitForText("That is all.");
      expect(two.screen.filter((row) => /^(?:const|› |Canc|That)/.test(row))).toEqual([
        "› Write it",
        "const one = 1;",
        "const val",
        "› /takeover",
        "Cancelled.",
        "› Go on",
        "That is all.",
      ]);
    },
  );

  it("An observer sees the end of a turn, and leaving does not end it", async () => {
    const { chat } = place();
    const one = chat();
    await one.waitForText("New session ");
    const two = chat("--session", "latest", "--observe");
    await two.waitForText("watching; /takeover to take part");
    one.typeKeys("Please save a note: buy milk\r");
    await one.waitForText("Run save_note? ");
    await two.waitForText("● save_note buy milk");
    two.typeKeys("\u0003");
    await two.waitForText("Press Ctrl-C again to leave");
    one.typeKeys("y\r");
    await one.waitForText("Done. save_note says");
    await two.waitForText("Done. save_note says");
    one.typeKeys("Please save a note: buy bread\r");
    await one.waitForText("Run save_note? ");
    one.typeKeys("\u0003");
    await one.waitForText("Cancelled.");
    await two.waitForText("Cancelled.");
    expect(one.screen.filter((row) => row === "Cancelled.")).toHaveLength(1);
    const later = chat("--session", "latest", "--observe");
    await later.waitForText("› Please save a note: buy bread");
    await later.waitForText("Cancelled.");
  });

  it("An observer leaves with Ctrl-C, and the turn of another client continues", async () => {
    const { chat } = place();
    const one = chat();
    await one.waitForText("New session ");
    one.typeKeys("Please save a note: buy milk\r");
    await one.waitForText("Run save_note? ");
    const two = chat("--session", "latest", "--observe");
    await two.waitForText("watching; /takeover to take part");
    two.typeKeys("/cancel\r");
    await two.waitForText("You are watching and cannot cancel the turn.");
    two.typeKeys("\u0003");
    await two.waitForText("Press Ctrl-C again to leave");
    two.typeKeys("\u0003");
    expect(await two.exitCode).toBe(130);
    one.typeKeys("y\r");
    await one.waitForText("Done. save_note says");
    expect(one.output).not.toContain("cancelled");
  });

  it("A chat continues if the owner is killed during a question", async () => {
    const { data, chat } = place();
    const { child, sessionId } = await startUp(data);
    const person = chat("--session", sessionId);
    await person.waitForText("Session ses_");
    person.typeKeys("Please save a note: buy milk\r");
    await person.waitForText("Run save_note? [y/a/n] ");
    child.kill("SIGKILL");
    await once(child, "exit");
    person.typeKeys("y\r");
    await person.waitForText("Done. save_note says");
    expect(readFileSync(join(data, "notes.txt"), "utf8")).toBe("buy milk\n");
  });

  it("An observer sees that the controller left, and open questions", async () => {
    const answers = [hangs("Let me think"), says("That is all.")];
    const { data, config, chat, ...place } = await scripted(...answers);
    const { child, sessionId } = await startUp(data, { config, ...place });
    const one = chat("--session", sessionId);
    await one.waitForText("Session ses_");
    const two = chat("--session", sessionId, "--observe", "--config", config);
    await two.waitForText("· watching; /takeover to take part");
    one.typeKeys("Go\r");
    await two.waitForText("Let me think");
    one.child.kill("SIGKILL");
    await two.waitForText("The controller of this session has left. /takeover takes control.");
    await two.waitForText("· watching; this session has no controller; /takeover");
    child.kill("SIGKILL");
    await two.waitForText("? The connection to the agent was lost during its response,");
    await two.waitForText("It waits for an answer; /takeover to be asked.");
    two.typeKeys("/takeover\r");
    await two.waitForText("── Spanline asks ──");
    await two.waitForText("Stop the turn");
    two.typeKeys("\u0003");
    await two.waitForText("Cancelled.");
    await two.waitForText("› ");
    two.typeKeys("Go on\r");
    expect(await two.waitForText("That is all.")).not.toContain("How to go on?");
  });

  it("A chat explains why no process runs the session", async () => {
    const { data } = place();
    const folder = `${data}-untrusted`;
    mkdirSync(folder);
    const mcpServers = { bad: { command: "node", args: ["nothing.mjs"] } };
    const provider = { type: "local", model: "ollama:none" };
    const config = join(folder, "spanline.config.json");
    writeFileSync(config, JSON.stringify({ agents: { coder: { provider, mcpServers } } }));
    const { child, sessionId } = await startUp(data, { config });
    const person = startInTerminal(
      command,
      ["chat", "-d", data, "--session", sessionId, "--observe"],
      {
        workingDirectory: folder,
      },
    );
    await person.waitForText("watching; this session has no controller;");
    child.kill("SIGKILL");
    await person.waitForText("but this version is not");
    await person.waitForText("No process runs this session now");
    person.typeKeys("/takeover\r");
    await person.waitForText("but this version is not");
    await person.waitForText("--config");
    expect(person.output).not.toMatch(/SpanlineError|\{"|your key|requires the bridge/);
    const warnings = person.output
      .replaceAll("\n", " ")
      .match(/read the configuration and its files/g);
    expect(warnings).toHaveLength(2);
  });

  it("A chat reconnects to a remote bridge without lost or repeated output [W-48]", async () => {
    const { data } = place();
    const { url, token, sessionId } = await startUp(data);
    const between = await cuttable(url);
    const person = startInTerminal(
      command,
      ["chat", "--url", between.url, "--session", sessionId],
      {
        environment: { SPANLINE_TOKEN: token },
      },
    );
    await person.waitForText("Session ses_");
    person.typeKeys("What is 2 + 3?\r");
    await person.waitForText("That is 5.");
    person.typeKeys("Please save a note: buy milk\r");
    await person.waitForText("Run save_note? [y/a/n] ");
    between.cut();
    await person.waitForText("The connection is lost");
    await person.waitForText("Run save_note? [y/a/n] ");
    person.typeKeys("y\r");
    await person.waitForText("Connected again.");
    await person.waitForText("Done. save_note says");
    person.typeKeys("What is 4 + 4?\r");
    await person.waitForText("That is 8.");
    const said = /^(?:That is|Let me|● save_note|Done\.|›) .*/;
    expect(person.screen.filter((row) => said.test(row))).toEqual([
      "› What is 2 + 3?",
      "That is 5.",
      "› Please save a note: buy milk",
      "Let me use save_note for that.",
      "● save_note buy milk",
      expect.stringMatching(/^Done\. save_note says/),
      "› What is 4 + 4?",
      "That is 8.",
    ]);
    expect(readFileSync(join(data, "notes.txt"), "utf8")).toBe("buy milk\n");
  });

  it("Without a token a chat may only prompt, and says so", async () => {
    const { data } = place();
    const { url } = await startUp(data);
    const person = startInTerminal(command, ["chat", "--url", url]);
    await person.waitForText("You may send prompts, but neither approve nor control");
    person.typeKeys("What is 2 + 3?\r");
    expect(await person.waitForText("That is 5.")).toContain("› What is 2 + 3?");
    person.typeKeys("Please save a note: buy milk\r");
    await person.waitForText("● save_note waits for approval, which requires the bridge's token");
  });

  it("The token of another bridge is refused with a hint", async () => {
    const { data } = place();
    const { url } = await startUp(data);
    const person = startInTerminal(command, ["chat", "--url", url, "--token", "a".repeat(32)]);
    expect(await person.waitForText("check --url and --token")).toContain("401");
  });

  it("A lost connection is reported once, and prompts are sent after reconnecting", async () => {
    const { data } = place();
    const { url, token } = await startUp(data);
    const between = await cuttable(url);
    const person = startInTerminal(command, ["chat", "--url", between.url], {
      environment: { SPANLINE_TOKEN: token },
    });
    await person.waitForText("New session ");
    person.typeKeys("What is 4 + 4?\r");
    await person.waitForText("That is 8.");
    const refused = between.refuse(3);
    await person.waitForText(`The connection is lost. Waiting for the bridge at 127.0.0.1:`);
    person.typeKeys("What is 2 + 3?\r");
    await person.waitForText("It will be sent after reconnecting.");
    expect(await person.waitForText("· no connection")).not.toContain("· working");
    await refused;
    between.accept();
    await person.waitForText("Connected again.");
    await person.waitForText("That is 5.");
    expect(person.screen.join("\n").match(/connection is lost/g)).toHaveLength(1);
  });

  it("A failed first connection is reported once", async () => {
    const person = startInTerminal(command, ["chat", "--url", "ws://127.0.0.1:1"]);
    await person.waitForText("check --url and --token");
    expect(await person.exitCode).toBe(1);
    expect(person.output).not.toContain("connection is closed");
    expect(person.output.match(/ECONNREFUSED/g)).toHaveLength(1);
  });
});

describe("spanline chat in a terminal, with a mistyped command", () => {
  it("A suggestion is shown and nothing is sent to the agent [ACP-77]", async () => {
    const person = place().chat();
    await person.waitForText("New session");
    person.typeKeys("What is 2 + 3?\r");
    await person.waitForText("That is 5.");
    person.typeKeys("/hlep\r");
    await person.waitForText('did you mean "/help"?');
    person.typeKeys("/staus\r");
    await person.waitForText('did you mean "/status"?');
    expect(person.output).not.toContain("I heard you");
    person.typeKeys("/exit\r");
    expect(await person.exitCode).toBe(0);
  });
});

describe("spanline chat without a terminal", () => {
  it("Without a terminal every line is answered in plain text on standard output", async () => {
    const { data } = place();
    const input = "What is 2 + 3?\n\nWhat is \\\n4 + 4?\n";
    const ran = await command.run(["chat", "-d", data], { input });
    expect([ran.stdout, ran.status]).toEqual(["That is 5.\nThat is 8.\n", 0]);
    const resume = ["chat", "-d", data, "--resume"];
    const { stdout } = await command.run(resume, { input: "/status\n" });
    expect(stdout).toMatch(/^- Tokens: \d+ input, \d+ output, \d+ total$/m);
    expect(ran.stderr).toContain("Come back with: ");
  });

  it("Input may come from a file, an empty file or a closed standard input", async () => {
    const { data } = place();
    writeFileSync(join(command.folder, "prompts.txt"), "What is 2 + 3?\n");
    const from = (input: string, ...flags: string[]) =>
      inShell(`chat -d ${data} ${flags.join(" ")} ${input}`);
    expect(await from("<prompts.txt")).toMatchObject({ stdout: "That is 5.\n", status: 0 });
    expect(await from("</dev/null")).toMatchObject({ stdout: "", status: 0 });
    expect(await from("<&-")).toMatchObject({ stdout: "", status: 0 });
    expect(await from("<prompts.txt", "--session", "ses_nothing")).toMatchObject({ status: 2 });
  });

  it("A mistyped command gets a suggestion and is not sent to the agent [ACP-77]", async () => {
    const { data } = place();
    const input = "What is 2 + 3?\n/staus\n/hlep\n/etc/hosts\n";
    const ran = await command.run(["chat", "-d", data], { input });
    expect(ran.stderr).toContain('Command "/staus" does not exist. Fix: did you mean "/status"? ');
    expect(ran.stderr).toContain('Command "/hlep" does not exist. Fix: did you mean "/help"? ');
    expect(ran.stdout).toBe('That is 5.\nI heard you: "/etc/hosts" I will remember it.\n');
    expect(ran.status).toBe(1);
  });

  it("Without a terminal approvals are denied with a message", async () => {
    const { data } = place();
    const input = "Please save a note: buy milk\n";
    const ran = await command.run(["chat", "-d", data], { input });
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain("save_note: denied, because no terminal is available");
    expect(ran.stderr).toContain("✗ denied");
  });

  it("With --json every update is one line", async () => {
    const { data } = place();
    const ran = await command.run(["chat", "-d", data, "--json"], { input: "What is 2 + 3?\n" });
    const lines = ran.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const texts = lines.flatMap(({ update }) => (update?.type === "agent-text" ? update.text : []));
    expect(texts.join("")).toBe("That is 5.");
    expect(lines.find(({ type }) => type === "session")).toEqual({
      type: "session",
      sessionId: expect.stringMatching(/^ses_/),
    });
    const updates = lines.flatMap(({ update }) => (update === undefined ? [] : [update]));
    const once = updates.filter(({ type }) => type === "commands" || type === "extension");
    expect(once.map((update) => JSON.stringify(update))).toHaveLength(
      new Set(once.map((update) => JSON.stringify(update))).size,
    );
    expect(once.filter(({ type }) => type === "commands")).toHaveLength(1);
    const { sessionId } = lines.find(({ type }) => type === "session");
    expect(lines.at(-1)).toMatchObject({ type: "end", sessionId, reason: "end_turn" });
  });

  it("The printed command resumes the session with all necessary flags", async () => {
    const { data, config, environment } = await scripted(says("Hello."), says("Hello again."));
    const args = ["chat", "-d", data, "--config", config];
    const first = await command.run(args, { environment, input: "Hi\n" });
    const [, again = ""] = /Come back with: node \S+ (.*)\n/.exec(first.stderr) ?? [];
    const second = await command.run(again.split(" "), { environment, input: "Hi\n" });
    expect([second.stdout, second.status]).toEqual(["Hello again.\n", 0]);
    const { url, token } = await startUp(place().data);
    const flags = ["--url", url, "--token", token];
    const elsewhere = await command.run(["chat", ...flags], { input: "Hi\n" });
    expect(elsewhere.stderr).toMatch(` --url ${url} --token …\n`);
  });

  it("Without a prompt no session is opened", async () => {
    const { data } = place();
    const ran = await command.run(["chat", "-d", data], { input: "\n \n" });
    expect(ran).toEqual({
      stdout: "",
      stderr: "The input contains no prompt, so no session was opened.\n",
      status: 0,
    });
    const resumed = await command.run(["chat", "-d", data, "--resume"], { input: "Hi\n" });
    expect(resumed).toEqual({
      stdout: "",
      stderr:
        "No session of this folder exists yet\nFix: start one with `spanline chat`, without --resume.\n",
      status: 2,
    });
  });

  it("An unknown agent of a remote bridge is refused even without a prompt", async () => {
    const { url, token } = await startUp(place().data);
    const args = ["chat", "--url", url, "--token", token, "--agent"];
    const ran = await command.run([...args, "nobody"], { input: "" });
    expect(ran).toEqual({
      stdout: "",
      stderr: expect.stringMatching(/^Agent "nobody" does not exist: expected "demo"\n$/),
      status: 2,
    });
    expect(await command.run([...args, "demo"], { input: "" })).toMatchObject({ status: 0 });
  });

  it("Invalid flags are refused with exit code 2", async () => {
    const { data } = place();
    const cases = [
      ["--agent", "nobody"],
      ["--observe"],
      ["--session", "ses_nothing"],
      ["--token", "x"],
    ];
    for (const flags of cases) {
      const ran = await command.run(["chat", "-d", data, ...flags], { input: "Hi\n" });
      expect([flags, ran.stdout, ran.status]).toEqual([flags, "", 2]);
    }
    const unknown = await command.run(["chat", "-d", data, "--session", "ses_nothing"], {
      input: "Hi\n",
    });
    expect(unknown.stderr).toBe(
      `Session "ses_nothing" does not exist\nFix: list the sessions of ${data} with \`spanline sessions list -d ${data}\`, or set --data-dir.\n`,
    );
    const agent = ["chat", "-d", data, "--agent", "nobody"];
    const { stderr } = await command.run(agent, { input: "Hi\n" });
    expect(stderr).toMatch(/^Agent "nobody" does not exist.*\n$/);
    expect(await command.run(agent, { input: "" })).toEqual({ stdout: "", stderr, status: 2 });
    const none = await command.run(["chat", "--url", "ws://127.0.0.1:1"], { input: "Hi\n" });
    expect(none.status).toBe(1);
    expect(none.stderr).toContain("check --url and --token. ");
    expect(none.stderr).toContain("they are ws://HOST:PORT/acp and TOKEN.");
    expect(none.stderr).not.toContain("connection is closed");
  });
});
