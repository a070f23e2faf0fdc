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
import { startInTerminal, type TerminalSession } from "../support/terminal-session.ts";
import {
  hangs,
  says,
  startModelServer,
  type ScriptedResponse,
} from "../support/server/model-server.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

let count = 0;
/** Each test has its own sessions. */
function place(): { readonly data: string; chat: (...args: string[]) => TerminalSession } {
  const data = join(command.folder, `chat-${(count += 1)}`);
  return { data, chat: (...args) => startInTerminal(command, ["chat", "-d", data, ...args]) };
}

/** The command as a shell's line has it, with what the line says about standard input. */
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

/** All that stands below the question that was open when somebody left. */
function farewellOf({ screen }: TerminalSession): string {
  const said = screen.slice(screen.findLastIndex((row) => row.startsWith("  n  Deny")) + 1);
  return said.join(" ").trim();
}

/** The same with an agent that says what a test wants. */
async function scripted(...answers: readonly ScriptedResponse[]) {
  const { data } = place();
  const { url } = await startModelServer("chat", answers);
  const environment = { MY_KEY: "sk-test" };
  const provider = { type: "local", model: "openai:scripted" };
  const settings = { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: { env: "MY_KEY" } };
  const coder = { provider, environment: settings };
  const config = `${data}.config.json`;
  writeFileSync(config, JSON.stringify({ agents: { coder } }));
  const chat = (...args: string[]) =>
    startInTerminal(command, ["chat", "-d", data, ...args], { environment });
  return { data, config, environment, chat };
}

/** A bridge in a process of its own. */
async function startUp(data: string, options: StartOptions & { readonly config?: string } = {}) {
  const { config, ...more } = options;
  const args = ["up", "-d", data, "--port", "0", "--json"];
  const given = config === undefined ? args : [...args, "--config", config];
  const child = command.start(given, { isOpen: true, ...more });
  const { url, link, sessionId } = JSON.parse(await waitForOutput(child.stdout, "\n"));
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
    await person.waitForText("New session ");
    person.typeKeys("What is 2 + 3?\r");
    await person.waitForText("That is 5.");
    person.typeKeys("Please save a note: buy milk\r");
    const asked = await person.waitForText("Run save_note? [y/a/n] ");
    expect(asked).toContain("── Spanline asks ──");
    expect(asked).toContain('save_note {"text":"buy milk"}');
    expect(asked).toContain("Why: The policy (require_approval, entry 1) asks about save_note");
    // Enter alone allows nothing.
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

  it("shows what was said to whoever comes back, and goes on with it", async () => {
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

  it("leaves a question open without a complaint, and asks it of whoever comes back", async () => {
    const { data, chat } = place();
    const first = chat();
    await first.waitForText("New session ");
    first.typeKeys("Please save a note: buy milk\r");
    await first.waitForText("Run save_note? [y/a/n] ");
    first.typeKeys("\u0004");
    expect(await first.exitCode).toBe(0);
    expect(farewellOf(first)).toMatch(
      /^The turn goes on when it is taken up again\. Come back with: [^;✗]*$/,
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

  it("cancels the turn by Ctrl-C, then asks once more, then leaves", async () => {
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
    await person.waitForText("Ctrl-C again leaves");
    person.typeKeys("\u0003");
    await person.waitForText("Come back with: ");
    expect(await person.exitCode).toBe(130);
  });

  it("gives back what was being typed when it asked, without the answer that was begun", async () => {
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

  it("leaves by itself where there is no such session, as it does without a terminal", async () => {
    const { chat } = place();
    const person = chat("--session", "ses_nothing");
    await person.waitForText("`spanline sessions list` shows what there is.");
    expect(await person.exitCode).toBe(2);
    expect(person.output).not.toContain("/help");
  });

  it("takes what goes on in the next line, and what is pasted, as one prompt", async () => {
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

  it("lets one watch and another act, and tells who loses control [ACP-121] [ACP-122]", async () => {
    const { chat } = place();
    const one = chat();
    await one.waitForText("New session ");
    one.typeKeys("What is 2 + 3?\r");
    await one.waitForText("That is 5.");
    const two = chat("--session", "latest", "--observe");
    await two.waitForText("That is 5.");
    await two.waitForText("watching; /takeover to take part");
    two.typeKeys("What is 4 + 4?\r");
    await two.waitForText("Not said: What is 4 + 4?");
    await two.waitForText("/takeover takes control, then you can say it");
    two.typeKeys("/takeover\r");
    await two.waitForText("You control this session now.");
    await one.waitForText("Somebody else took control");
    expect(one.output).not.toContain("4 + 4");
    // What could not be said stands there again.
    await two.waitForText("› What is 4 + 4?");
    two.typeKeys("\r");
    await two.waitForText("That is 8.");
    const seen = await one.waitForText("That is 8.");
    expect(seen).toContain("› What is 4 + 4?");
  });

  it("tells who is taken over from at a question who is asked now, and what a watcher cannot do", async () => {
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
    await two.waitForText("You are watching, and end nobody's turn. /takeover takes control");
    two.typeKeys("/takeover\r");
    await two.waitForText("Run save_note? ");
    await one.waitForText("Not answered: another client has taken over, and is asked now.");
    const below = await one.waitForText("· watching; /takeover to take part");
    expect(below).toContain("· working\n");
    expect(below).not.toContain("Ctrl-C cancels");
    one.typeKeys("\u0003");
    await one.waitForText("Ctrl-C again leaves");
    two.typeKeys("y\r");
    await one.waitForText("Done. save_note says");
  });

  it.each([
    ["somebody else", () => {}],
    ["a client that died", ({ child }: TerminalSession) => void child.kill("SIGKILL")],
  ])(
    "ends a turn after a takeover from %s, and keeps what is typed meanwhile",
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
      await two.waitForText("· next: and then this");
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

  it("tells who watches how a turn ended, and lets it leave without ending one", async () => {
    const { chat } = place();
    const one = chat();
    await one.waitForText("New session ");
    const two = chat("--session", "latest", "--observe");
    await two.waitForText("watching; /takeover to take part");
    one.typeKeys("Please save a note: buy milk\r");
    await one.waitForText("Run save_note? ");
    await two.waitForText("● save_note buy milk");
    two.typeKeys("\u0003");
    await two.waitForText("Ctrl-C again leaves");
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

  it("lets who watches leave by Ctrl-C, and the turn of another one goes on", async () => {
    const { chat } = place();
    const one = chat();
    await one.waitForText("New session ");
    one.typeKeys("Please save a note: buy milk\r");
    await one.waitForText("Run save_note? ");
    const two = chat("--session", "latest", "--observe");
    await two.waitForText("watching; /takeover to take part");
    two.typeKeys("/cancel\r");
    await two.waitForText("You are watching, and end nobody's turn.");
    two.typeKeys("\u0003");
    await two.waitForText("Ctrl-C again leaves");
    two.typeKeys("\u0003");
    expect(await two.exitCode).toBe(130);
    one.typeKeys("y\r");
    await one.waitForText("Done. save_note says");
    expect(one.output).not.toContain("cancelled");
  });

  it("goes on when the process that ran the session is killed while it asks", async () => {
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

  it("tells who watches that the controller left, and what nobody answers", async () => {
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
    await two.waitForText("Whoever controlled this session has left. /takeover takes control.");
    await two.waitForText("· watching, and nobody controls this session; /takeover");
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

  it("says in words why nobody runs the session any more", async () => {
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
    await person.waitForText("watching, and nobody controls this session;");
    child.kill("SIGKILL");
    await person.waitForText("nobody trusts this version of it");
    await person.waitForText("Nobody runs this session now");
    person.typeKeys("/takeover\r");
    await person.waitForText("nobody trusts this version of it");
    await person.waitForText("--config names it");
    expect(person.output).not.toMatch(/SpanlineError|\{"|your key|that takes the bridge/);
    const said = person.output.replaceAll("\n", " ").match(/Look at it, and/g);
    expect(said).toHaveLength(2);
  });

  it("connects again to a bridge elsewhere, and misses nothing and shows nothing twice [W-48]", async () => {
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

  it("says that it may only ask where it has no token", async () => {
    const { data } = place();
    const { url } = await startUp(data);
    const person = startInTerminal(command, ["chat", "--url", url]);
    await person.waitForText("You may ask, and neither approve nor control");
    person.typeKeys("What is 2 + 3?\r");
    expect(await person.waitForText("That is 5.")).toContain("› What is 2 + 3?");
    person.typeKeys("Please save a note: buy milk\r");
    await person.waitForText("● save_note waits for approval, which takes the bridge's token");
  });

  it("is refused with another bridge's token, and says where the right one is", async () => {
    const { data } = place();
    const { url } = await startUp(data);
    const person = startInTerminal(command, ["chat", "--url", url, "--token", "a".repeat(32)]);
    expect(await person.waitForText("Check --url and --token")).toContain("401");
  });

  it("says once that the connection is lost, and sends what is typed until there is one", async () => {
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
    await person.waitForText("It is sent when there is a connection again.");
    expect(await person.waitForText("· no connection")).not.toContain("· working");
    await refused;
    between.accept();
    await person.waitForText("Connected again.");
    await person.waitForText("That is 5.");
    expect(person.screen.join("\n").match(/connection is lost/g)).toHaveLength(1);
  });

  it("says once why there is no first connection", async () => {
    const person = startInTerminal(command, ["chat", "--url", "ws://127.0.0.1:1"]);
    await person.waitForText("Check --url and --token");
    expect(await person.exitCode).toBe(1);
    expect(person.output).not.toContain("any more");
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
    await person.waitForText("did you mean /help?");
    person.typeKeys("/staus\r");
    await person.waitForText("did you mean /status?");
    expect(person.output).not.toContain("I heard you");
    person.typeKeys("/exit\r");
    expect(await person.exitCode).toBe(0);
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

  it("A mistyped command gets a suggestion and is not sent to the agent [ACP-77]", async () => {
    const { data } = place();
    const input = "What is 2 + 3?\n/staus\n/hlep\n/etc/hosts\n";
    const ran = await command.run(["chat", "-d", data], { input });
    expect(ran.stderr).toContain("Unknown command /staus; did you mean /status? ");
    expect(ran.stderr).toContain("Unknown command /hlep; did you mean /help? ");
    expect(ran.stdout).toBe('That is 5.\nI heard you: "/etc/hosts" I will remember it.\n');
    expect(ran.status).toBe(1);
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
    expect(stderr).toMatch(/^Agent "nobody" does not exist.*\n$/);
    expect(await command.run(agent, { input: "" })).toEqual({ stdout: "", stderr, status: 2 });
    const none = await command.run(["chat", "--url", "ws://127.0.0.1:1"], { input: "Hi\n" });
    expect(none.status).toBe(1);
    expect(none.stderr).toContain("Check --url and --token: ");
    expect(none.stderr).toContain("these are ws://HOST:PORT/acp and TOKEN.");
    expect(none.stderr).not.toContain("any more");
  });
});
