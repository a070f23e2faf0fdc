import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Browser, Page } from "playwright-core";
import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import { createToolCall, createToolSuccess } from "../../src/domain/tools/tool-call.ts";
import { findChromium } from "../../test/support/find-chromium.ts";
import { writeSessions } from "../../test/support/session/write-session.ts";
import { computeMedian } from "../measure.ts";
import type { Row } from "../report.ts";

const TITLE = "a session of 10,000 events in the portal, in Chromium";
const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
const MAIN = join(ROOT, "dist/cli/main.js");
const SESSION = "ses_portal_bench";
const EVENTS = 10_000;
const ROUNDS = 7;
const SCROLL_STEPS = 60;
const WAIT_MS = 60_000;

/**
 * Loads a long session, then scrolls to its first message. A task over 50 ms delays input visibly. Tasks are measured in
 * CPU time, so that other programs on the machine do not count.
 */
export async function measurePortal(): Promise<Row> {
  const found = findChromium(join(ROOT, "test/browser"));
  if (found === undefined) {
    return skip("Chromium is not installed: install chromium, or run npm ci --prefix test/browser");
  }
  if (!existsSync(join(ROOT, "dist/portal/index.html"))) return skip("Run npm run build first");
  const directory = mkdtempSync(join(tmpdir(), "spanline-bench-"));
  await writeSessions(directory, { sessionId: SESSION, title: "Long", events: createEvents() });
  const { chromium } = await import("playwright-core");
  const { executablePath, args, environment } = found;
  const env = { ...process.env, ...environment };
  const browser = await chromium.launch({ executablePath, args, env });
  const bridge = await startBridge(directory);
  const rounds: Round[] = [];
  try {
    for (let round = -1; round < ROUNDS; round++) {
      const measured = await runRound(browser, bridge.link);
      if (round >= 0) rounds.push(measured);
    }
  } finally {
    await browser.close();
    bridge.child.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  }
  return createRow(rounds);
}

interface Round {
  readonly loadMs: number;
  readonly scrollMs: number;
  /** Milliseconds of CPU time. */
  readonly longestLoadTask: number;
  readonly longestScrollTask: number;
}

function createRow(rounds: readonly Round[]): Row {
  const pick = (key: keyof Round) => rounds.map((round) => round[key]);
  const ratio = (text: string, key: keyof Round) =>
    ({ text, value: computeMedian(pick(key)), target: 50, bound: "at most" }) as const;
  return {
    title: TITLE,
    unit: "ms",
    measured: [
      { name: "load, until the last message is shown", rounds: pick("loadMs") },
      { name: "scroll to the first message", rounds: pick("scrollMs") },
      { name: "longest task of the load, CPU time", rounds: pick("longestLoadTask") },
      { name: "longest task of the scroll, CPU time", rounds: pick("longestScrollTask") },
    ],
    growth: [],
    ratios: [
      ratio("longest task of the load, ms", "longestLoadTask"),
      ratio("longest task of the scroll, ms", "longestScrollTask"),
    ],
  };
}

function skip(skipped: string): Row {
  return { title: TITLE, unit: "ms", measured: [], growth: [], ratios: [], skipped };
}

async function startBridge(
  directory: string,
): Promise<{ readonly child: ChildProcess; readonly link: string }> {
  const args = [MAIN, "up", "--json", "--port", "0", "--data-dir", directory];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface(child.stdout), "line");
  const { link } = JSON.parse(String(line));
  return { child, link: String(link).replace(/\/sessions\/[^?]+/, `/sessions/${SESSION}`) };
}

async function runRound(browser: Browser, link: string): Promise<Round> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const readLoadTask = await traceTasks(browser, page);
  const start = performance.now();
  await page.goto(link);
  await page.getByText(LAST_MESSAGE).first().waitFor();
  const loadMs = performance.now() - start;
  await waitForIdlePage(page);
  const longestLoadTask = await readLoadTask();

  const readScrollTask = await traceTasks(browser, page);
  const scrollStart = performance.now();
  await page.mouse.move(640, 400);
  await scrollToStart(page);
  const scrollMs = performance.now() - scrollStart;
  await waitForIdlePage(page);
  const longestScrollTask = await readScrollTask();
  await context.close();
  return { loadMs, scrollMs, longestLoadTask, longestScrollTask };
}

/** Scrolls by ever larger steps of the mouse wheel until the first message is shown. */
async function scrollToStart(page: Page): Promise<void> {
  const first = page.getByText(FIRST_MESSAGE).first();
  for (let step = 1; !(await first.isVisible()); step++) {
    if (step > SCROLL_STEPS * 10) throw new Error("The first message was not reached");
    await page.mouse.wheel(0, step < SCROLL_STEPS ? -1500 : -20_000);
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))");
  }
}

async function waitForIdlePage(page: Page): Promise<void> {
  await page.evaluate("new Promise((resolve) => requestIdleCallback(resolve))");
}

/** Traces the tasks of all threads. Returns a function that reads the longest task of the page's main thread. */
async function traceTasks(browser: Browser, page: Page): Promise<() => Promise<number>> {
  const session = await browser.newBrowserCDPSession();
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  const includedCategories = ["toplevel", "blink.user_timing"];
  await session.send("Tracing.start", { traceConfig: { includedCategories } });
  return async () => {
    // The thread of this mark is the page's main thread. Chromium has pages of its own.
    await page.evaluate(`performance.mark("${MARK}")`);
    const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
    await session.send("Tracing.end");
    await complete;
    await session.detach();
    const mark = events.find(({ name }) => name === MARK);
    if (mark === undefined) throw new Error("The trace has no mark of the page");
    const tasks = events.filter(
      ({ name, pid, tid }) => name === TASK && pid === mark.pid && tid === mark.tid,
    );
    return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur / 1000));
  };
}

const MARK = "spanline-bench";
const TASK = "ThreadControllerImpl::RunTask";

/** The fields of Chromium's trace events in use. */
interface TraceEvent {
  readonly name?: string;
  readonly pid?: number;
  readonly tid?: number;
  /** Microseconds of CPU time. */
  readonly tdur?: number;
}

const FIRST_MESSAGE = "Question 1 of the benchmark";
const LAST_MESSAGE = "That was the last answer of the benchmark.";

/** Turns of 25 events: thoughts, Markdown with code, and a tool call. */
function createEvents(): readonly SessionEvent[] {
  const events: SessionEvent[] = [];
  for (let turn = 1; events.length < EVENTS - 25; turn++) events.push(...createTurn(turn));
  return [...events, ...createLastTurn()];
}

const END = { outcome: "completed", reason: "end_turn", usage: null } as const;

function createTurn(number: number): readonly SessionEvent[] {
  const messageId = `msg_${number}`;
  const toolCallId = `tool_${number}`;
  const inputText = JSON.stringify({ path: `src/file-${number}.ts` });
  const toolCall = createToolCall({
    id: `p${number}`,
    name: "read_file",
    inputText,
    runBy: "client",
  });
  const text = createAnswer(number);
  const length = Math.ceil(text.length / 12);
  const deltas = Array.from({ length: 12 }, (_, at) => text.slice(at * length, (at + 1) * length));
  return [
    ...createPrompt(number, `Question ${number} of the benchmark: summarize this file`),
    { type: "message.started", messageId, role: "assistant" },
    { type: "thought.finished", messageId, block: 0, text: "The file has to be read first." },
    { type: "tool_call.opened", toolCallId, messageId, block: 1, name: "read_file" },
    { type: "tool_call.received", toolCallId, messageId, block: 1, toolCall },
    { type: "tool.started", toolCallId, attempt: 1, digest: `d${number}` },
    {
      type: "tool.finished",
      toolCallId,
      ending: "succeeded",
      result: createToolSuccess(`p${number}`, "export const answer = 42;\n".repeat(40)),
      durationMs: 12,
    },
    ...deltas.map((piece) => ({ type: "text.delta", messageId, block: 2, text: piece }) as const),
    { type: "text.finished", messageId, block: 2, text },
    { type: "message.finished", messageId, reason: "end_turn" },
    { type: "turn.finished", turnId: `turn_${number}`, ...END, steps: 2 },
  ];
}

function createPrompt(number: number, text: string): readonly SessionEvent[] {
  const promptId = `prompt_${number}`;
  const content = [{ type: "text", text }] as const;
  return [
    { type: "prompt.accepted", promptId, content },
    { type: "turn.started", turnId: `turn_${number}`, promptId },
    { type: "message.sent", messageId: `msg_q${number}`, content, origin: "prompt", promptId },
  ];
}

function createLastTurn(): readonly SessionEvent[] {
  const messageId = "msg_last";
  return [
    ...createPrompt(100_000, "Was that all?"),
    { type: "message.started", messageId, role: "assistant" },
    { type: "text.finished", messageId, block: 0, text: LAST_MESSAGE },
    { type: "message.finished", messageId, reason: "end_turn" },
    { type: "turn.finished", turnId: "turn_100000", ...END, steps: 1 },
  ];
}

function createAnswer(number: number): string {
  return `## File ${number}

The file exports **one** value, see [the docs](https://example.com/${number}):

\`\`\`ts
export const answer: number = ${number};
export function read(): number {
  return answer + 1;
}
\`\`\`

- the first point has \`code\` and *emphasis*
- the second point is longer, so that it is wrapped by most windows and takes more than a line of text

| name | value |
|---|---|
| answer | ${number} |
`;
}
