import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { SessionFields } from "../../src/store/session-index.ts";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";

let cli: CommandLine;

beforeAll(async () => {
  cli = await createCommandLine();
  return () => cli.close();
});

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "spanline-sessions-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

interface StoredSession extends SessionFields {
  readonly sessionId: string;
  readonly at: number;
  readonly events?: readonly SessionEvent[];
}

/** Creates a data directory with the sessions, without a process for running them. */
async function directoryWith(...sessions: readonly StoredSession[]): Promise<string> {
  const directory = newDirectory();
  const store = await openSqliteStore({ file: join(directory, "sessions.db") });
  for (const { sessionId, at, events = [], ...index } of sessions) {
    const { lease } = await store.acquire(sessionId, { owner: "test", now: at, durationMs: 1 });
    const opened = { type: "session.opened", agent: "demo", principal: "local" } as const;
    await store.append(lease, 0, {
      events: [opened, ...events].map((event) => ({ at, visibility: "public", event })),
      index: { agent: "demo", principal: "local", state: "idle", ...index },
      sync: false,
    });
    await store.release(lease);
  }
  await store.close();
  return directory;
}

/** Starts `spanline up` on a new directory with a single session. */
async function running() {
  const directory = newDirectory();
  const child = cli.start(["up", "--port", "0", "--json", "--data-dir", directory]);
  const { url, sessionId } = JSON.parse(await waitForOutput(child.stdout, "}\n"));
  return {
    directory,
    sessionId: String(sessionId),
    prompt: async (content: string) => {
      const answer = await fetch(`${url}/api/sessions/${sessionId}/prompt`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "text/plain" },
        body: JSON.stringify({ text: content, wait: true }),
      });
      return answer.text();
    },
    stop: async () => {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

const HOUR = 3_600_000;

/** A turn with every kind of transcript entry. */
const LIVELY: readonly SessionEvent[] = [
  { type: "prompt.accepted", promptId: "prompt_1", content: [{ type: "text", text: "Refund 7" }] },
  { type: "turn.started", turnId: "turn_1", promptId: "prompt_1" },
  {
    type: "message.sent",
    messageId: "msg_0",
    content: [{ type: "text", text: "Refund 7\u001b[2J" }],
    origin: "prompt",
  },
  { type: "message.started", messageId: "msg_1", role: "assistant" },
  { type: "text.delta", messageId: "msg_1", block: 0, text: "One mo" },
  { type: "text.finished", messageId: "msg_1", block: 0, text: "One moment.\u001b]0;owned\u0007" },
  {
    type: "tool_call.received",
    toolCallId: "tool_1",
    messageId: "msg_1",
    block: 1,
    toolCall: {
      id: "a",
      name: "refund",
      inputText: '{"order":7}',
      input: { order: 7 },
      runBy: "client",
    },
  },
  { type: "message.finished", messageId: "msg_1", reason: "tool_use" },
  {
    type: "approval.requested",
    approvalId: "appr_1",
    question: "run",
    options: ["allow", "deny"],
    subjectId: "tool_1",
    action: "refund",
    input: { order: 7 },
    deadline: 9,
  },
  { type: "session.recovered", epoch: 2 },
  { type: "approval.resolved", approvalId: "appr_1", decision: "deny", resolvedBy: "deadline" },
  {
    type: "tool.finished",
    toolCallId: "tool_1",
    ending: "denied",
    result: { toolCallId: "a", parts: [{ type: "text", text: "denied" }], isError: true },
  },
  { type: "invocation.lost", invocationId: "call_2" },
  {
    type: "turn.finished",
    turnId: "turn_1",
    outcome: "failed",
    reason: null,
    usage: null,
    steps: 2,
    failure: { code: "connection_lost", message: "It broke", details: {} },
  },
];

describe("spanline sessions list", () => {
  it("list prints the newest sessions first with their ages, in pages, and escapes their titles", async () => {
    const now = Date.now();
    const directory = await directoryWith(
      { sessionId: "ses_old", at: now - 50 * HOUR, title: "Last week" },
      { sessionId: "ses_mid", at: now - 3 * HOUR, title: "Evil \u001b[31mred\nses_forged" },
      { sessionId: "ses_new", at: now - 5 * 60_000, state: "waiting" },
    );
    const list = ["sessions", "list", "-d", directory];
    const { stdout, stderr, status } = await cli.run([...list, "--limit", "2"]);
    expect(stdout).toBe(
      [
        "SESSION  STATE    AGENT  CHANGED    EVENTS  TITLE",
        "ses_new  waiting  demo   5 min ago  1       -",
        String.raw`ses_mid  idle     demo   3 h ago    1       Evil \u{1b}[31mred\u{a}ses_forged`,
        "",
      ].join("\n"),
    );
    const [, page = ""] = /^Next page: --page (\S+)$/m.exec(stderr) ?? [];
    const rest = await cli.run([...list, "--page", page]);
    expect([status, rest.stdout]).toEqual([0, expect.stringMatching(/ses_old .* 2 d ago/)]);
    expect(rest.stdout).not.toContain("ses_mid");
  });

  it("list prints the principals if any session is not local", async () => {
    const at = Date.now() - HOUR;
    const directory = await directoryWith(
      { sessionId: "ses_a", at, principal: "evaluation" },
      { sessionId: "ses_b", at: at - HOUR },
    );
    const { stdout } = await cli.run(["sessions", "list", "-d", directory]);
    expect(stdout).toBe(
      [
        "SESSION  STATE  AGENT  PRINCIPAL   CHANGED  EVENTS  TITLE",
        "ses_a    idle   demo   evaluation  1 h ago  1       -",
        "ses_b    idle   demo   local       2 h ago  1       -",
        "",
      ].join("\n"),
    );
    const shownSession = await cli.run(["sessions", "show", "ses_a", "-d", directory]);
    expect(shownSession.stdout).toContain("\n  of       evaluation\n");
    const own = await cli.run(["sessions", "show", "ses_b", "-d", directory]);
    expect(own.stdout).not.toContain("local");
  });

  it("list finds sessions by words and by agent, as text and as JSON", async () => {
    const at = Date.now();
    const directory = await directoryWith(
      { sessionId: "ses_a", at, title: "Refund of order 7" },
      { sessionId: "ses_b", at, title: "Weather", agent: "other" },
    );
    const list = ["sessions", "list", "-d", directory, "--json"];
    const [found, others, none] = await Promise.all([
      cli.run([...list, "--search", "order refund"]),
      cli.run([...list, "--agent", "other"]),
      cli.run([...list.slice(0, -1), "--search", "moon"]),
    ]);
    const ids = ({ stdout }: { readonly stdout: string }): string[] =>
      JSON.parse(stdout).sessions.map((one: { sessionId: string }) => one.sessionId);
    expect([ids(found), ids(others)]).toEqual([["ses_a"], ["ses_b"]]);
    expect([none.status, none.stdout, none.stderr]).toEqual([
      0,
      "",
      expect.stringMatching(/^No session matches in /),
    ]);
  });
});

describe("spanline sessions show", () => {
  it("show prints the transcript and escapes control characters", async () => {
    const directory = await directoryWith({
      sessionId: "ses_1",
      at: Date.UTC(2026, 0, 2),
      title: "A refund",
      events: LIVELY,
    });
    const { stdout, status } = await cli.run(["sessions", "show", "ses_1", "-d", directory]);
    expect(status).toBe(0);
    expect(stdout).toBe(String.raw`A refund
  id       ses_1
  agent    demo
  state    idle
  created  2026-01-02T00:00:00.000Z
  changed  2026-01-02T00:00:00.000Z

── 2026-01-02T00:00:00.000Z ──
user
  Refund 7\u{1b}[2J

assistant
  One moment.\u{1b}]0;owned\u{7}
  → refund tool_1
    {
      "order": 7
    }
  ? refund {"order":7} appr_1
  ! session resumed after a restart
  = deny, because no decision arrived in time
  ← failed refund tool_1
    denied
  ! The connection to the agent was lost

failed · 2 messages, 1 call · no usage reported
connection_lost: It broke
`);
  });

  it("show prints the log as lines or as JSON", async () => {
    const directory = await directoryWith({ sessionId: "ses_1", at: 5, events: LIVELY });
    const show = ["sessions", "show", "latest", "-d", directory];
    const [lines, json] = await Promise.all([
      cli.run([...show, "--events"]),
      cli.run([...show, "--json"]),
    ]);
    expect(lines.stdout.split("\n").length).toBe(LIVELY.length + 2);
    expect(lines.stdout).toContain(
      '     3  1970-01-01T00:00:00.005Z  turn.started  {"turnId":"turn_1","promptId":"prompt_1"}\n',
    );
    expect(lines.stdout).not.toContain("\u001b");
    const { sessionId, events } = JSON.parse(json.stdout);
    expect([sessionId, events.map((one: { event: SessionEvent }) => one.event).slice(1)]).toEqual([
      "ses_1",
      LIVELY,
    ]);
  });
});

describe("spanline sessions export", () => {
  it("export writes one line per envelope, to stdout or to a file for its user only", async () => {
    const directory = await directoryWith({ sessionId: "ses_1", at: 5, events: LIVELY });
    const file = join(directory, "out.jsonl");
    const args = ["sessions", "export", "ses_1", "-d", directory];
    const [fileRun, piped] = await Promise.all([cli.run([...args, "-o", file]), cli.run(args)]);
    expect(fileRun.stderr).toBe(`${LIVELY.length + 1} events of ses_1 in ${file}\n`);
    expect(readFileSync(file, "utf8")).toBe(piped.stdout);
    const envelopes = piped.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(envelopes.map(({ seq }) => seq)).toEqual(envelopes.map((_, at) => at + 1));
    const unkept = await cli.run([...args, "-o", "nowhere/out.jsonl"]);
    expect([unkept.status, unkept.stderr]).toEqual([
      2,
      "Cannot write nowhere/out.jsonl: no such folder\n",
    ]);
  });
});

describe("While another process runs the sessions", () => {
  it("tail follows a session from the end or from a position until Ctrl-C", async () => {
    const { directory, sessionId, prompt } = await running();
    await prompt("My name is Ada");
    const tail = ["sessions", "tail", "latest", "-d", directory];
    const fromStart = cli.start([...tail, "--from", "0", "--json"]);
    expect(await waitForOutput(fromStart.stdout, "turn.finished")).toContain('"seq":1,');
    const fromEnd = cli.start([...tail]);
    await waitForOutput(fromEnd.stderr, `following ${sessionId} after event `);
    await prompt("What is my name?");
    expect(await waitForOutput(fromEnd.stdout, "completed")).toMatch(
      /^\n── .* ──\nuser\n {2}What is my name/,
    );
    const fromPlace = cli.start([...tail, "--events", "--from", "7"]);
    expect(await waitForOutput(fromPlace.stdout, "turn.finished")).toMatch(/^ +8 /);
    for (const child of [fromStart, fromEnd, fromPlace]) {
      child.kill("SIGINT");
      expect(await once(child, "exit")).toEqual([0, null]);
    }
  });

  it("delete works through the running process, which continues without the session", async () => {
    const { directory, sessionId, prompt, stop } = await running();
    await prompt("Hello");
    const follower = cli.start(["sessions", "tail", sessionId, "-d", directory, "--from", "0"]);
    await waitForOutput(follower.stdout, "completed");
    const noted = text(follower.stderr);
    const args = ["sessions", "delete", sessionId, "-d", directory];
    const unasked = await cli.run(args);
    expect([unasked.status, unasked.stderr]).toEqual([
      2,
      expect.stringContaining("No terminal is available for confirmation. Fix: add --yes."),
    ]);
    const refusing = cli.start(args, { isTerminal: true });
    await waitForOutput(refusing.stderr, "and its log permanently? [y/N]");
    refusing.stdin.write("n\n");
    expect(await once(refusing, "exit")).toEqual([1, null]);
    const followerExit = once(follower, "exit");
    const deleted = await cli.run([...args, "--yes"]);
    expect([deleted.status, deleted.stderr]).toEqual([0, expect.stringContaining("is deleted.")]);
    const [status] = await followerExit;
    expect([status, await noted]).toEqual([2, expect.stringContaining(sessionId)]);
    expect(await prompt("Hello")).toContain("not_found");
    await stop();
  });
});

describe("While no process runs the sessions", () => {
  it("delete works directly and resumes no interrupted session", async () => {
    const at = Date.now();
    const directory = await directoryWith(
      { sessionId: "ses_1", at },
      { sessionId: "ses_2", at, state: "running", events: LIVELY.slice(0, 4) },
    );
    const deleted = await cli.run(["sessions", "delete", "ses_1", "-y", "-d", directory]);
    expect([deleted.status, deleted.stderr]).toEqual([0, "ses_1 is deleted.\n"]);
    const { stdout } = await cli.run(["sessions", "list", "-d", directory, "--json"]);
    expect(JSON.parse(stdout).sessions).toMatchObject([
      { sessionId: "ses_2", state: "running", seq: 5 },
    ]);
  });

  it.each([["list"], ["show", "latest"], ["tail", "latest"], ["delete", "ses_1", "-y"]])(
    "%s reports an empty data directory and creates nothing",
    async (...args) => {
      const directory = join(newDirectory(), "none");
      const { status, stderr } = await cli.run(["sessions", ...args, "-d", directory]);
      expect([status, stderr]).toEqual([
        2,
        `No sessions exist in ${directory} yet\nFix: start a session with \`spanline up\`, or set --data-dir.\n`,
      ]);
      expect(() => readFileSync(directory)).toThrow("ENOENT");
    },
  );

  it.each([
    [["show", "ses_01abd"], 'Fix: did you mean "ses_01abc"?'],
    [["delete", "something-else", "-y"], "list the sessions with `spanline sessions list`"],
    [["tail", "ses_01abc", "--from", "99"], "\nFix: omit --from"],
    [["tail", "ses_01abc", "--from", "-1"], "integer of at least 0"],
    [["list", "--page", "nonsense"], "nonsense is not a valid page"],
    [["list", "--limit", "0"], "an integer greater than 0"],
  ])("%j exits with 2 and names the fix", async (args, advice) => {
    const directory = await directoryWith({ sessionId: "ses_01abc", at: 5 });
    const { status, stdout, stderr } = await cli.run(["sessions", ...args, "-d", directory]);
    expect([status, stdout, stderr]).toEqual([2, "", expect.stringContaining(advice)]);
  });
});

describe("spanline up with retention", () => {
  const DAY = 24 * HOUR;

  async function upOn(directory: string, ...flags: readonly string[]) {
    const child = cli.start(["up", "-p", "0", "--json", "-d", directory, ...flags]);
    onTestFinished(() => void child.kill("SIGKILL"));
    const { sessionId, isOwner } = JSON.parse(await waitForOutput(child.stdout, "}\n"));
    return { child, sessionId, isOwner };
  }

  async function listed(directory: string): Promise<readonly string[]> {
    const { stdout } = await cli.run(["sessions", "list", "--json", "-d", directory]);
    const { sessions } = JSON.parse(stdout);
    return sessions.map(({ sessionId }: { readonly sessionId: string }) => sessionId).sort();
  }

  it("Sessions unused for the given number of days are deleted, with a message", async () => {
    const now = Date.now();
    const directory = await directoryWith(
      { sessionId: "ses_old", at: now - 40 * DAY },
      { sessionId: "ses_older", at: now - 50 * DAY },
      { sessionId: "ses_new", at: now - DAY },
    );
    const { child, sessionId } = await upOn(directory, "--keep-days", "30");
    const noted = await waitForOutput(child.stderr, "\n");
    expect(noted).toMatch(/^Deleted 2 sessions; 0\.\d MB of events remain\n$/);
    expect(sessionId).toBe("ses_new");
    expect(await listed(directory)).toEqual(["ses_new"]);
  });

  it("serve deletes old sessions, too", async () => {
    const directory = await directoryWith({ sessionId: "ses_old", at: Date.now() - 40 * DAY });
    const args = ["serve", "--port", "0", "--keep-days", "30", "--data-dir", directory];
    const child = cli.start(args);
    expect(await waitForOutput(child.stderr, "\n")).toMatch(/^Deleted 1 session; /);
    await waitForOutput(child.stdout, "Ctrl-C");
    expect(await listed(directory)).toEqual([]);
  });

  it("Without retention flags nothing is deleted", async () => {
    const directory = await directoryWith({ sessionId: "ses_old", at: 1 });
    await upOn(directory);
    expect(await listed(directory)).toEqual(["ses_old"]);
  });

  it("A joined process leaves retention to the owner, with a message", async () => {
    const directory = await directoryWith({ sessionId: "ses_old", at: 1 });
    const first = await upOn(directory);
    const { child, isOwner } = await upOn(directory, "--keep-mb", "1");
    expect([first.isOwner, isOwner]).toEqual([true, false]);
    expect(await waitForOutput(child.stderr, "\n")).toBe(
      `Process ${first.child.pid} runs the sessions, and its retention settings apply; --keep-days and --keep-mb are ignored here\n`,
    );
    expect(await listed(directory)).toEqual(["ses_old"]);
  });

  it.each(["0", "-1", "x", "1.5", ""])("--keep-days refuses %j", async (days) => {
    const { status, stderr } = await cli.run(["up", `--keep-days=${days}`, "-d", newDirectory()]);
    expect([status, stderr]).toEqual([2, expect.stringContaining("an integer greater than 0")]);
  });
});

describe("spanline sessions usage", () => {
  it("The usage of sessions, principals and days is printed with their budgets", async () => {
    const usage = { inputTokens: 390, outputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const started = { type: "invocation.started", invocationId: "inv_1", upstreamId: "u" } as const;
    const directory = await directoryWith({
      sessionId: "ses_1",
      at: 1,
      events: [
        { ...started, purpose: "prompt" },
        {
          type: "invocation.finished",
          invocationId: "inv_1",
          outcome: "completed",
          reason: null,
          usage: { ...usage, totalTokens: 400 },
        },
        { type: "budget.extended", scope: "session", unit: "tokens", cap: 2000 },
      ],
    });
    const store = await openSqliteStore({ file: join(directory, "sessions.db") });
    const used = { tokens: 900, seconds: 2, toolCalls: 1, invocations: 3, usd: 0.5 };
    await store.putRecord("budget", JSON.stringify(["day", "demo", "2026-11-18"]), {
      value: { used, raised: { usd: 1 }, sessions: {} },
    });
    await store.close();
    const { stdout, status } = await cli.run(["sessions", "usage", "ses_1", "-d", directory]);
    expect(status).toBe(0);
    expect(stdout).toContain("session ses_1\n  400 tokens of 2,000 (20 %)\n");
    expect(stdout).toContain("day demo 2026-11-18\n  900 tokens\n");
    expect(stdout).toContain("  $0.50 of $1.00 (50 %)\n");
    const json = await cli.run(["sessions", "usage", "--json", "-d", directory]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      usage: [
        { name: "turn ses_1" },
        { name: "session ses_1", used: { tokens: 400 }, caps: { tokens: 2000 } },
        { name: "day demo 2026-11-18", used, caps: { usd: 1 } },
      ],
    });
  });

  it("A data directory without sessions has no usage", async () => {
    const directory = await directoryWith();
    const usage = await cli.run(["sessions", "usage", "-d", directory]);
    expect(usage).toMatchObject({ status: 0, stdout: "No usage is recorded yet\n" });
  });
});
