import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  commandLine,
  saying,
  type CommandLine,
  type Ran,
  type StartOptions,
} from "./support/command-line.ts";
import { inTerminal, type InTerminal } from "./support/in-terminal.ts";
import { hangs, says, startModel, type Scripted } from "./support/model-server.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await commandLine();
});
afterAll(() => command.close());

let count = 0;
/** Each test has its own sessions. */
function place(): { readonly data: string; chat: (...args: string[]) => InTerminal } {
  const data = join(command.folder, `chat-${(count += 1)}`);
  return { data, chat: (...args) => inTerminal(command, ["chat", "-d", data, ...args]) };
}

/** The command as a shell's line has it, with what the line says about standard input. */
async function inShell(line: string): Promise<Ran> {
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

/** All that stands below the question that was open when somebody left. */
function farewellOf({ screen }: InTerminal): string {
  const said = screen.slice(screen.findLastIndex((row) => row.startsWith("  n  Deny")) + 1);
  return said.join(" ").trim();
}

/** The same with an agent that says what a test wants. */
async function scripted(...answers: readonly Scripted[]) {
  const { data } = place();
  const { url } = await startModel("chat", answers);
  const environment = { MY_KEY: "sk-test" };
  const provider = { type: "local", model: "openai:scripted" };
  const settings = { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: { env: "MY_KEY" } };
  const coder = { provider, environment: settings };
  const config = `${data}.config.json`;
  writeFileSync(config, JSON.stringify({ agents: { coder } }));
  const chat = (...args: string[]) =>
    inTerminal(command, ["chat", "-d", data, ...args], { environment });
  return { data, config, environment, chat };
}

/** A bridge in a process of its own. */
async function startUp(data: string, options: StartOptions & { readonly config?: string } = {}) {
  const { config, ...more } = options;
  const args = ["up", "-d", data, "--port", "0", "--json"];
  const given = config === undefined ? args : [...args, "--config", config];
  const child = command.start(given, { isOpen: true, ...more });
  const { url, link, sessionId } = JSON.parse(await saying(child.stdout, "\n"));
  const token = new URL(link).searchParams.get("token") ?? "";
  return { child, url: String(url), token, sessionId: String(sessionId) };
}

interface Cuttable {
  readonly url: string;
  cut(): void;
  /** Cuts it, and lets nobody through; resolves when so many have tried. */
  refuse(count: number): Promise<void>;
  accept(): void;
}

/** Stands between a chat and its bridge, and can be cut. */
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
  it("says what the agent says, asks before a tool runs, and leaves the session", async () => {
    const { data, chat } = place();
    const person = chat();
    await person.shows("New session ");
    person.type("What is 2 + 3?\r");
    await person.shows("That is 5.");
    person.type("Please save a note: buy milk\r");
    const asked = await person.shows("Run save_note? [y/a/n] ");
    expect(asked).toContain("── Spanline asks ──");
    expect(asked).toContain('save_note {"text":"buy milk"}');
    expect(asked).toContain("Why: The policy (require_approval, entry 1) asks about save_note");
    // Enter alone allows nothing.
    person.type("\r");
    await person.shows("Please answer with one of these.");
    person.type("sure\r");
    await person.shows("Please answer with one of these.");
    person.type("y\r");
    await person.shows("✓ ");
    await person.shows("Done. save_note says");
    expect(readFileSync(join(data, "notes.txt"), "utf8")).toBe("buy milk\n");
    person.type("\u0004");
    await person.shows("Come back with: ");
    expect(await person.ended).toBe(0);
    expect(person.screen.slice(2, 8)).toEqual([
      "",
      "› What is 2 + 3?",
      "",
      "That is 5.",
      "",
      "› Please save a note: buy milk",
    ]);
  });

  it("shows what was said to whoever comes back, and goes on with it", async () => {
    const { chat } = place();
    const first = chat();
    await first.shows("New session ");
    first.type("My name is Ada.\r");
    await first.shows("Ada");
    await first.shows("› ");
    first.type("/exit\r");
    expect(await first.ended).toBe(0);
    const again = chat("--resume");
    await again.shows("Session ses_");
    await again.shows("› My name is Ada.");
    again.type("What is 2 + 3?\r");
    await again.shows("That is 5.");
  });

  it("leaves a question open without a complaint, and asks it of whoever comes back", async () => {
    const { data, chat } = place();
    const first = chat();
    await first.shows("New session ");
    first.type("Please save a note: buy milk\r");
    await first.shows("Run save_note? [y/a/n] ");
    first.type("\u0004");
    expect(await first.ended).toBe(0);
    expect(farewellOf(first)).toMatch(
      /^The turn goes on when it is taken up again\. Come back with: [^;✗]*$/,
    );
    const again = chat("--session", "latest");
    await again.shows("● save_note buy milk");
    await again.shows("Run save_note? [y/a/n] ");
    again.type("\u0004");
    expect(await again.ended).toBe(0);
    expect(farewellOf(again)).toBe(farewellOf(first));
    const last = chat("--resume");
    await last.shows("Run save_note? [y/a/n] ");
    last.type("y\r");
    await last.shows("Done. save_note says");
    expect(readFileSync(join(data, "notes.txt"), "utf8")).toBe("buy milk\n");
  });

  it("cancels the turn by Ctrl-C, then asks once more, then leaves", async () => {
    const { chat } = place();
    const person = chat();
    await person.shows("New session ");
    person.type("Please save a note: buy milk\r");
    await person.shows("Run save_note? ");
    person.type("\u0003");
    await person.shows("Cancelled.");
    const below = person.screen.slice(
      person.screen.findLastIndex((row) => row.startsWith("  n  Deny")),
    );
    expect(below.slice(1).filter((row) => /\w/.test(row))).toEqual([
      expect.stringMatching(/^ {2}✗ cancelled/),
      "Cancelled.",
    ]);
    person.type("\u0003");
    await person.shows("Ctrl-C again leaves");
    person.type("\u0003");
    await person.shows("Come back with: ");
    expect(await person.ended).toBe(130);
  });

  it("gives back what was being typed when it asked, without the answer that was begun", async () => {
    const { chat } = place();
    const person = chat();
    await person.shows("New session ");
    person.type("Please save a note: buy milk\rWhat is 2 + 3?");
    await person.shows("Run save_note? [y/a/n] ");
    person.type("ye");
    await person.shows("ye");
    person.type("\u0003");
    await person.shows("Cancelled.");
    person.type("\r");
    expect(await person.shows("That is 5.")).toContain("› What is 2 + 3?\n");
    expect(person.screen).toContain("› What is 2 + 3?");
  });

  it("leaves by itself where there is no such session, as it does without a terminal", async () => {
    const { chat } = place();
    const person = chat("--session", "ses_nothing");
    await person.shows("`spanline sessions list` shows what there is.");
    expect(await person.ended).toBe(2);
    expect(person.all).not.toContain("/help");
  });

  it("takes what goes on in the next line, and what is pasted, as one prompt", async () => {
    const { chat } = place();
    const person = chat();
    await person.shows("New session ");
    person.type("What is \\\r");
    await person.shows("… ");
    person.type("2 + 3?\r");
    expect(await person.shows("That is 5.")).toContain("› What is\n  2 + 3?");
    person.type("\u001b[200~What is\n4 + 4?\u001b[201~\r");
    expect(await person.shows("That is 8.")).toContain("› What is\n  4 + 4?");
  });

  it("lets one watch and another act, and tells who loses control [ACP-121] [ACP-122]", async () => {
    const { chat } = place();
    const one = chat();
    await one.shows("New session ");
    one.type("What is 2 + 3?\r");
    await one.shows("That is 5.");
    const two = chat("--session", "latest", "--observe");
    await two.shows("That is 5.");
    await two.shows("watching; /takeover to take part");
    two.type("What is 4 + 4?\r");
    await two.shows("Not said: What is 4 + 4?");
    await two.shows("/takeover takes control, then you can say it");
    two.type("/takeover\r");
    await two.shows("You control this session now.");
    await one.shows("Somebody else took control");
    expect(one.all).not.toContain("4 + 4");
    // What could not be said stands there again.
    await two.shows("› What is 4 + 4?");
    two.type("\r");
    await two.shows("That is 8.");
    const seen = await one.shows("That is 8.");
    expect(seen).toContain("› What is 4 + 4?");
  });

  it("tells who is taken over from at a question who is asked now, and what a watcher cannot do", async () => {
    const { chat } = place();
    const one = chat();
    await one.shows("New session ");
    const two = chat("--session", "latest", "--observe");
    await two.shows("watching; /takeover to take part");
    one.type("Please save a note: buy milk\r");
    await one.shows("Run save_note? ");
    await two.shows("● save_note buy milk");
    await two.shows("● save_note waits for approval by its controller");
    two.type("/cancel\r");
    await two.shows("You are watching, and end nobody's turn. /takeover takes control");
    two.type("/takeover\r");
    await two.shows("Run save_note? ");
    await one.shows("Not answered: another client has taken over, and is asked now.");
    const below = await one.shows("· watching; /takeover to take part");
    expect(below).toContain("· working\n");
    expect(below).not.toContain("Ctrl-C cancels");
    one.type("\u0003");
    await one.shows("Ctrl-C again leaves");
    two.type("y\r");
    await one.shows("Done. save_note says");
  });

  it.each([
    ["somebody else", () => {}],
    ["a client that died", ({ child }: InTerminal) => void child.kill("SIGKILL")],
  ])(
    "ends a turn after a takeover from %s, and keeps what is typed meanwhile",
    async (_, leave) => {
      const code = hangs("Here:\n\n```js\nconst one = 1;\nconst val");
      const { data, chat, ...place } = await scripted(code, says("That is all."));
      const { sessionId } = await startUp(data, place);
      const one = chat("--session", sessionId);
      await one.shows("Session ses_");
      const two = chat("--session", sessionId, "--observe");
      await two.shows("watching; /takeover to take part");
      one.type("Write it\r");
      await two.shows("const val");
      await two.shows("· working\n· watching");
      leave(one);
      two.type("/takeover\r");
      await two.shows("You control this session now.");
      await two.shows("· working, Ctrl-C cancels");
      two.type("and then this\r");
      await two.shows("· next: and then this");
      two.type("\u0003");
      await two.shows("Not sent: and then this");
      await two.shows("Cancelled.");
      two.type("Go on\r");
      await two.shows("That is all.");
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

  it("tells who watches how a turn ended, and lets it leave without ending one", async () => {
    const { chat } = place();
    const one = chat();
    await one.shows("New session ");
    const two = chat("--session", "latest", "--observe");
    await two.shows("watching; /takeover to take part");
    one.type("Please save a note: buy milk\r");
    await one.shows("Run save_note? ");
    await two.shows("● save_note buy milk");
    two.type("\u0003");
    await two.shows("Ctrl-C again leaves");
    one.type("y\r");
    await one.shows("Done. save_note says");
    await two.shows("Done. save_note says");
    one.type("Please save a note: buy bread\r");
    await one.shows("Run save_note? ");
    one.type("\u0003");
    await one.shows("Cancelled.");
    await two.shows("Cancelled.");
    expect(one.screen.filter((row) => row === "Cancelled.")).toHaveLength(1);
    const later = chat("--session", "latest", "--observe");
    await later.shows("› Please save a note: buy bread");
    await later.shows("Cancelled.");
  });

  it("lets who watches leave by Ctrl-C, and the turn of another one goes on", async () => {
    const { chat } = place();
    const one = chat();
    await one.shows("New session ");
    one.type("Please save a note: buy milk\r");
    await one.shows("Run save_note? ");
    const two = chat("--session", "latest", "--observe");
    await two.shows("watching; /takeover to take part");
    two.type("/cancel\r");
    await two.shows("You are watching, and end nobody's turn.");
    two.type("\u0003");
    await two.shows("Ctrl-C again leaves");
    two.type("\u0003");
    expect(await two.ended).toBe(130);
    one.type("y\r");
    await one.shows("Done. save_note says");
    expect(one.all).not.toContain("cancelled");
  });

  it("goes on when the process that ran the session is killed while it asks", async () => {
    const { data, chat } = place();
    const { child, sessionId } = await startUp(data);
    const person = chat("--session", sessionId);
    await person.shows("Session ses_");
    person.type("Please save a note: buy milk\r");
    await person.shows("Run save_note? [y/a/n] ");
    child.kill("SIGKILL");
    await once(child, "exit");
    person.type("y\r");
    await person.shows("Done. save_note says");
    expect(readFileSync(join(data, "notes.txt"), "utf8")).toBe("buy milk\n");
  });

  it("tells who watches that the controller left, and what nobody answers", async () => {
    const answers = [hangs("Let me think"), says("That is all.")];
    const { data, config, chat, ...place } = await scripted(...answers);
    const { child, sessionId } = await startUp(data, { config, ...place });
    const one = chat("--session", sessionId);
    await one.shows("Session ses_");
    const two = chat("--session", sessionId, "--observe", "--config", config);
    await two.shows("· watching; /takeover to take part");
    one.type("Go\r");
    await two.shows("Let me think");
    one.child.kill("SIGKILL");
    await two.shows("Whoever controlled this session has left. /takeover takes control.");
    await two.shows("· watching, and nobody controls this session; /takeover");
    child.kill("SIGKILL");
    await two.shows("? The connection to the agent was lost during its answer,");
    await two.shows("It waits for an answer; /takeover to be asked.");
    two.type("/takeover\r");
    await two.shows("── Spanline asks ──");
    await two.shows("Stop the turn");
    two.type("\u0003");
    await two.shows("Cancelled.");
    await two.shows("› ");
    two.type("Go on\r");
    expect(await two.shows("That is all.")).not.toContain("How to go on?");
  });

  it("says in words why nobody runs the session any more", async () => {
    const { data } = place();
    const folder = `${data}-untrusted`;
    mkdirSync(folder);
    const mcpServers = { bad: { command: "node", args: ["nothing.mjs"] } };
    const provider = { type: "local", model: "ollama:none" };
    const config = join(folder, "spanline.config.json");
    writeFileSync(config, JSON.stringify({ agents: { coder: { provider, mcpServers } } }));
    const { child, sessionId } = await startUp(data, { config });
    const person = inTerminal(command, ["chat", "-d", data, "--session", sessionId, "--observe"], {
      workingDirectory: folder,
    });
    await person.shows("watching, and nobody controls this session;");
    child.kill("SIGKILL");
    await person.shows("nobody trusts this version of it");
    await person.shows("Nobody runs this session now");
    person.type("/takeover\r");
    await person.shows("nobody trusts this version of it");
    await person.shows("--config names it");
    expect(person.all).not.toMatch(/SpanlineError|\{"|your key|that takes the bridge/);
    const said = person.all.replaceAll("\n", " ").match(/Look at it, and/g);
    expect(said).toHaveLength(2);
  });

  it("connects again to a bridge elsewhere, and misses nothing and shows nothing twice [W-48]", async () => {
    const { data } = place();
    const { url, token, sessionId } = await startUp(data);
    const between = await cuttable(url);
    const person = inTerminal(command, ["chat", "--url", between.url, "--session", sessionId], {
      environment: { SPANLINE_TOKEN: token },
    });
    await person.shows("Session ses_");
    person.type("What is 2 + 3?\r");
    await person.shows("That is 5.");
    person.type("Please save a note: buy milk\r");
    await person.shows("Run save_note? [y/a/n] ");
    between.cut();
    await person.shows("The connection is lost");
    await person.shows("Run save_note? [y/a/n] ");
    person.type("y\r");
    await person.shows("Connected again.");
    await person.shows("Done. save_note says");
    person.type("What is 4 + 4?\r");
    await person.shows("That is 8.");
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

  it("says that it may only ask where it has no token", async () => {
    const { data } = place();
    const { url } = await startUp(data);
    const person = inTerminal(command, ["chat", "--url", url]);
    await person.shows("You may ask, and neither approve nor control");
    person.type("What is 2 + 3?\r");
    expect(await person.shows("That is 5.")).toContain("› What is 2 + 3?");
    person.type("Please save a note: buy milk\r");
    await person.shows("● save_note waits for approval, which takes the bridge's token");
  });

  it("is refused with another bridge's token, and says where the right one is", async () => {
    const { data } = place();
    const { url } = await startUp(data);
    const person = inTerminal(command, ["chat", "--url", url, "--token", "a".repeat(32)]);
    expect(await person.shows("Check --url and --token")).toContain("401");
  });

  it("says once that the connection is lost, and sends what is typed until there is one", async () => {
    const { data } = place();
    const { url, token } = await startUp(data);
    const between = await cuttable(url);
    const person = inTerminal(command, ["chat", "--url", between.url], {
      environment: { SPANLINE_TOKEN: token },
    });
    await person.shows("New session ");
    person.type("What is 4 + 4?\r");
    await person.shows("That is 8.");
    const refused = between.refuse(3);
    await person.shows(`The connection is lost. Waiting for the bridge at 127.0.0.1:`);
    person.type("What is 2 + 3?\r");
    await person.shows("It is sent when there is a connection again.");
    expect(await person.shows("· no connection")).not.toContain("· working");
    await refused;
    between.accept();
    await person.shows("Connected again.");
    await person.shows("That is 5.");
    expect(person.screen.join("\n").match(/connection is lost/g)).toHaveLength(1);
  });

  it("says once why there is no first connection", async () => {
    const person = inTerminal(command, ["chat", "--url", "ws://127.0.0.1:1"]);
    await person.shows("Check --url and --token");
    expect(await person.ended).toBe(1);
    expect(person.all).not.toContain("any more");
    expect(person.all.match(/ECONNREFUSED/g)).toHaveLength(1);
  });
});

describe("spanline chat without a terminal", () => {
  it("answers every line, in plain text and nothing else on standard output", async () => {
    const { data } = place();
    const input = "What is 2 + 3?\n\nWhat is \\\n4 + 4?\n";
    const ran = await command.run(["chat", "-d", data], { input });
    expect([ran.stdout, ran.status]).toEqual(["That is 5.\nThat is 8.\n", 0]);
    const resume = ["chat", "-d", data, "--resume"];
    const { stdout } = await command.run(resume, { input: "/status\n" });
    expect(stdout).toMatch(/^- Tokens: \d+ in and \d+ out, \d+ together$/m);
    expect(ran.stderr).toContain("Come back with: ");
  });

  it("takes its input from a file, from nothing and from no place at all, as it does from a pipe", async () => {
    const { data } = place();
    writeFileSync(join(command.folder, "prompts.txt"), "What is 2 + 3?\n");
    const from = (input: string, ...flags: string[]) =>
      inShell(`chat -d ${data} ${flags.join(" ")} ${input}`);
    expect(await from("<prompts.txt")).toMatchObject({ stdout: "That is 5.\n", status: 0 });
    expect(await from("</dev/null")).toMatchObject({ stdout: "", status: 0 });
    expect(await from("<&-")).toMatchObject({ stdout: "", status: 0 });
    expect(await from("<prompts.txt", "--session", "ses_nothing")).toMatchObject({ status: 2 });
  });

  it("never allows what needs an approval, and says so", async () => {
    const { data } = place();
    const input = "Please save a note: buy milk\n";
    const ran = await command.run(["chat", "-d", data], { input });
    expect(ran.status).toBe(1);
    expect(ran.stderr).toContain("save_note: denied, since there is no terminal to ask on");
    expect(ran.stderr).toContain("✗ denied");
  });

  it("writes every update as a line of JSON", async () => {
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

  it("leaves with a command that comes back, with all that it takes", async () => {
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

  it("opens no session where nothing is said", async () => {
    const { data } = place();
    const ran = await command.run(["chat", "-d", data], { input: "\n \n" });
    expect(ran).toEqual({
      stdout: "",
      stderr: "Nothing was said, and no session was opened.\n",
      status: 0,
    });
    const resumed = await command.run(["chat", "-d", data, "--resume"], { input: "Hi\n" });
    expect(resumed).toEqual({
      stdout: "",
      stderr:
        "There is no session of this folder yet\n`spanline chat` without --resume begins one.\n",
      status: 2,
    });
  });

  it("says what is wrong with its flags", async () => {
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
    const agent = ["chat", "-d", data, "--agent", "nobody"];
    const { stderr } = await command.run(agent, { input: "Hi\n" });
    expect(stderr).toMatch(/^There is no agent "nobody".*\n$/);
    const none = await command.run(["chat", "--url", "ws://127.0.0.1:1"], { input: "Hi\n" });
    expect(none.status).toBe(1);
    expect(none.stderr).toContain("Check --url and --token: ");
    expect(none.stderr).toContain("these are ws://HOST:PORT/acp and TOKEN.");
    expect(none.stderr).not.toContain("any more");
  });
});
