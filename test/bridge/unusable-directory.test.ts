import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { SessionEvent, SessionEventType } from "../../src/domain/events/session-event.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";
import { temporaryFolder } from "../store/sqlite-support.ts";

let cli: CommandLine;

beforeAll(async () => {
  cli = await createCommandLine();
  return () => cli.close();
});

const EDITOR = [
  { id: 1, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } },
  { id: 2, method: "session/new", params: { cwd: "/", mcpServers: [] } },
]
  .map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  .join("");

/** The error that an editor receives for a new session. */
async function acpError(directory: string): Promise<unknown> {
  const { stdout } = await cli.runProcess(["acp", "-d", directory], { input: EDITOR });
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "").error;
}

function unusable(): readonly (readonly [directory: string, complaint: string])[] {
  const folder = temporaryFolder();
  const file = join(folder, "file");
  writeFileSync(file, "");
  const long = join(folder, "a".repeat(300));
  const short = `${long.slice(0, 50)}…${long.slice(-50)}`;
  const choose = ". Fix: choose another with --data-dir";
  return [
    [file, `${file}: it is a file${choose}`],
    [join(file, "x"), `${join(file, "x")}: a part of the path is not a folder${choose}`],
    [long, `${short}: the path is too long${choose}`],
    ...(process.platform === "linux"
      ? ([["/proc/x", `/proc/x: no folder can be created there${choose}`]] as const)
      : []),
  ];
}

describe("Data directory that cannot be used", () => {
  it("Every command that writes sessions rejects the directory with a readable message", async () => {
    for (const [directory, complaint] of unusable()) {
      const [up, run, error] = await Promise.all([
        cli.run(["up", "-p", "0", "-d", directory]),
        cli.run(["run", "-d", directory, "Hello"]),
        acpError(directory),
      ]);
      const message = `Cannot store sessions in ${complaint}`;
      expect([up.status, up.stderr, run.status, run.stderr]).toEqual([
        2,
        `${message}\n`,
        2,
        `${message}\n`,
      ]);
      expect(error).toMatchObject({ message, data: { code: "store_failed" } });
    }
  });

  it("A directory whose path is too long for the store is rejected", async () => {
    const directory = join(temporaryFolder(), ..."abcdef".split("").map((one) => one.repeat(100)));
    const { status, stderr } = await cli.run(["up", "-p", "0", "-d", directory]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(": the path is too long. Fix: ")]);
  });

  it("A command that only reads rejects the directory too", async () => {
    const [[file, complaint] = ["", ""]] = unusable();
    const list = await cli.run(["sessions", "list", "-d", file]);
    expect([list.status, list.stderr]).toEqual([2, `Cannot read the sessions in ${complaint}\n`]);
  });

  it("Every command rejects an empty directory name", async () => {
    const commands = [["up"], ["run", "Hello"], ["acp"], ["sessions", "list"]];
    for (const command of commands) {
      const { status, stderr } = await cli.run([...command, "--data-dir", ""]);
      expect([status, stderr]).toEqual([2, expect.stringContaining("--data-dir is empty")]);
    }
  });
});

/** Starts `spanline up` and waits for its first output. */
const up = (directory: string, args: readonly string[]) => start("up", directory, args);
const serve = (directory: string, args: readonly string[]) => start("serve", directory, args);

async function start(command: string, directory: string, args: readonly string[]) {
  const child = cli.start([command, "-d", directory, ...args]);
  const errorOutput = await waitForOutput(
    child.stdout,
    args.includes("--json") ? "}\n" : "Ctrl-C stops it",
  );
  return { child, output: errorOutput };
}

async function findFreePort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return String(address.port);
}

/** Waits for the first event of a type. */
async function eventOf<Type extends SessionEventType>(
  directory: string,
  sessionId: string,
  type: Type,
): Promise<Extract<SessionEvent, { readonly type: Type }>> {
  const store = await openSqliteStore({ file: join(directory, "sessions.db"), readOnly: true });
  const isIt = (event: SessionEvent): event is Extract<SessionEvent, { readonly type: Type }> =>
    event.type === type;
  try {
    const { signal } = new AbortController();
    for await (const { events } of store.subscribe(sessionId, undefined, signal)) {
      const found = events.map(({ event }) => event).find(isIt);
      if (found !== undefined) return found;
    }
    throw new Error(`There is no ${type}`);
  } finally {
    await store.close();
  }
}

describe("spanline up", () => {
  it("All files are private to the user, including files that an older version created", async () => {
    const directory = temporaryFolder();
    const file = join(directory, "sessions.db");
    await (await openSqliteStore({ file })).close();
    chmodSync(file, 0o644);
    writeFileSync(join(directory, "owner.lock"), "", { mode: 0o644 });
    await up(directory, ["-p", "0"]);
    const modes = readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [name, (statSync(join(directory, name)).mode & 0o077).toString(8)]);
    expect(modes).toContainEqual(["sessions.db-wal", "0"]);
    expect(modes.filter(([, others]) => others !== "0")).toEqual([]);
  });

  it("A joined process prints that it joined, without the hint to kill it", async () => {
    const directory = temporaryFolder();
    const owner = await up(directory, ["-p", "0"]);
    expect(owner.output).toMatch(/^Spanline is up\. .*Kill this process/s);
    const { output } = await up(directory, ["-p", "0"]);
    expect(output).toMatch(
      new RegExp(`^Joined the bridge that runs in process ${owner.child.pid}\\. One session`),
    );
    expect(output).not.toContain("Kill this process");
  });

  it("A port used by another program gets advice for the way in which Spanline was started", async () => {
    const other = createHttpServer((_, response) => void response.end("Hello")).listen(
      0,
      "127.0.0.1",
    );
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" ? String(address?.port) : "";
    const environment = { npm_lifecycle_event: "start" };
    const args = ["up", "-d", temporaryFolder(), "-p", port];
    const { stderr } = await cli.run(args, { environment });
    expect(stderr).toBe(
      `Port ${port} on 127.0.0.1 is already in use. Fix: run \`npm start -- --port 0\`, which picks a free port\n`,
    );
  });

  it("A port used by the same directory and a port used by another program have different messages", async () => {
    const directory = temporaryFolder();
    const { child, output } = await up(directory, ["-p", "0", "--json"]);
    const { port } = new URL(JSON.parse(output).url);
    const foreign = await cli.run(["up", "-d", temporaryFolder(), "-p", port]);
    expect([foreign.status, foreign.stderr]).toEqual([
      1,
      `Port ${port} on 127.0.0.1 is already in use by a Spanline with another data directory. Fix: choose another with --port; 0 picks a free port\n`,
    ]);
    child.kill("SIGTERM");
    await once(child, "exit");
    const chosen = await serve(directory, ["-p", port]);
    const own = await cli.run(["up", "-d", directory, "-p", port]);
    expect([own.status, own.stderr]).toEqual([
      2,
      `A bridge of this directory already listens on port ${port}, in process ${chosen.child.pid}. Fix: use that process, or choose another port with --port\n`,
    ]);
  });

  it("A second start prints the link of the running bridge and exits with 0", async () => {
    const directory = temporaryFolder();
    const port = await findFreePort();
    const first = await up(directory, ["-p", port]);
    const [link = ""] = /http:\S+token=\S+/.exec(first.output) ?? [];
    const second = await cli.run(["up", "-d", directory, "-p", port]);
    expect([second.status, second.stderr]).toEqual([0, ""]);
    expect(second.stdout).toMatch(
      new RegExp(`^Spanline is already up, in process ${first.child.pid}\\. One session`),
    );
    expect(second.stdout).toContain(`  In a browser    ${link}\n`);
    expect(second.stdout).not.toMatch(/Ctrl-C|Kill this process/);
    // A bridge refuses a token of another bridge with 403.
    expect((await fetch(link, { redirect: "manual" })).status).toBe(303);
    const json = await cli.run(["up", "-d", directory, "-p", port, "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ link, portalPid: first.child.pid });
  });

  it("A second start does not replace the token that the running bridge uses", async () => {
    const directory = temporaryFolder();
    const port = await findFreePort();
    const { child, output } = await up(directory, ["-p", port]);
    const { status, stderr } = await cli.run(["up", "-d", directory, "-p", port, "--new-token"]);
    expect([status, stderr]).toEqual([
      2,
      `The token is in use by process ${child.pid}, which listens on port ${port}. Fix: stop that process, then start with --new-token\n`,
    ]);
    const { stdout } = await cli.run(["up", "-d", directory, "-p", port]);
    const token = (text: string): string | undefined => /token=\S+/.exec(text)?.[0];
    expect(token(stdout)).toBe(token(output));
  });

  it.skipIf(process.platform === "win32")(
    "The first Ctrl-C explains that a second Ctrl-C ends a blocked process",
    async () => {
      const directory = temporaryFolder();
      // A named pipe without a reader blocks the note tool.
      execFileSync("mkfifo", [join(directory, "notes.txt")]);
      const { child, output } = await up(directory, ["-p", "0", "--json"]);
      const { link, sessionId } = JSON.parse(output);
      const { origin, searchParams } = new URL(link);
      const api = `${origin}/api/sessions/${sessionId}`;
      const headers = {
        "content-type": "application/json",
        authorization: `Bearer ${searchParams.get("token")}`,
      };
      const post = (path: string, body: object): Promise<Response> =>
        fetch(`${api}/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      await post("prompt", { text: "Please save a note: buy milk" });
      const { approvalId } = await eventOf(directory, sessionId, "approval.requested");
      await post("commands", { type: "answer", approvalId, decision: "allow" });
      await eventOf(directory, sessionId, "tool.started");
      child.kill("SIGINT");
      await waitForOutput(child.stderr, "Press Ctrl-C again to exit now");
      child.kill("SIGINT");
      expect(await once(child, "exit")).toEqual([null, "SIGINT"]);
    },
  );
});
