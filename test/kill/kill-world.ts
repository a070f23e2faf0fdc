import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "../../src/data/json.ts";
import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import { formatPromptPart } from "../../src/domain/prompt.ts";
import type { Brain, BrainRequest } from "../../src/emulator/brains/brain.ts";
import type { Message } from "../../src/emulator/brains/session-message.ts";
import type { Step } from "../../src/emulator/brains/step.ts";
import { emulate } from "../../src/emulator/emulate-agentcore.ts";
import type { Switches } from "../../src/emulator/switches.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { KilledBridge } from "../programs/killed-bridge.ts";
import {
  responds,
  says,
  startModelServer,
  type ModelServerRequest,
  type ScriptedResponse,
} from "../support/server/model-server.ts";
import { formatTail, PROCESS_MS } from "../support/with-deadline.ts";

/** An emulator or model which outlives every bridge, with the messages received. */
export interface KillWorld {
  /** The new message of each invocation, as text. */
  readonly heard: readonly string[];
  run(
    program: string,
    settings: Pick<
      KilledBridge,
      | "kill"
      | "onLost"
      | "outcome"
      | "isPausing"
      | "isSteering"
      | "isAsking"
      | "isCompacting"
      | "isEmitting"
      | "isDelegating"
    >,
  ): Promise<Run>;
  /** Reads the log, which all bridges share. */
  log(): Promise<readonly Envelope[]>;
  /** Reads the logs of the sessions of workers. */
  workerLogs(): Promise<readonly (readonly Envelope[])[]>;
  /** Folder of the signing keys of every bridge. */
  readonly keysDirectory: string;
  /** Effects of the tools, in order. */
  effects(): Promise<readonly string[]>;
  end(): Promise<void>;
}

export interface Run {
  readonly signal: string | null;
  readonly code: number | null;
  readonly errors: string;
}

export async function killWorld(onDisconnect: Switches["onDisconnect"]): Promise<KillWorld> {
  const heard: string[] = [];
  const emulator = await emulate({
    brain: "worker",
    brains: { worker: workerBrain(heard) },
    switches: { onDisconnect },
  });
  const { url: endpoint, demoArn: harnessArn } = emulator;
  return worldAround(heard, { endpoint, harnessArn }, () => emulator.close());
}

/** The same world with a model which outlives every bridge, and an agent whose loop runs in the bridge. */
export async function localKillWorld(): Promise<KillWorld> {
  const heard: string[] = [];
  let close = (): void => {};
  // These tests are concurrent, so each world closes its own server.
  const server = await startModelServer(
    "chat",
    (asked) => workerModel(asked, heard),
    (closeServer) => {
      close = closeServer;
    },
  );
  return worldAround(heard, { endpoint: server.url, harnessArn: null }, async () => close());
}

async function worldAround(
  heard: readonly string[],
  agent: Pick<KilledBridge, "endpoint" | "harnessArn">,
  close: () => Promise<void>,
): Promise<KillWorld> {
  const folder = await mkdtemp(join(tmpdir(), "spanline-kill-"));
  const file = join(folder, "sessions.db");
  const effects = join(folder, "effects.txt");
  const log = async (): Promise<readonly Envelope[]> => {
    const store = await openSqliteStore({ file, readOnly: true });
    const events = await store.read("ses_killed", 0, 10_000);
    await store.close();
    return events;
  };
  const workerLogs = async (): Promise<readonly (readonly Envelope[])[]> => {
    const store = await openSqliteStore({ file, readOnly: true });
    const { sessions } = await store.listSessions({ limit: 100, parent: "ses_killed" });
    const logs = await Promise.all(
      sessions.map(({ sessionId }) => store.read(sessionId, 0, 10_000)),
    );
    await store.close();
    return logs;
  };
  return {
    heard,
    workerLogs,
    keysDirectory: folder,
    async run(program, settings) {
      const run = await runProgram(program, { ...settings, ...agent, file, effects });
      if (run !== "late") return run;
      const lines = (await log()).map(({ seq, event }) => `${seq} ${JSON.stringify(event)}`);
      const end = `The log ends with\n  ${formatTail(lines)}`;
      throw new Error(`The bridge did not exit within ${PROCESS_MS / 1000} s. ${end}`);
    },
    log,
    async effects() {
      if (!existsSync(effects)) return [];
      return (await readFile(effects, "utf8")).split("\n").filter(Boolean);
    },
    async end() {
      await close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns `late` if the process had to be terminated because it did not exit. */
function runProgram(program: string, settings: KilledBridge): Promise<Run | "late"> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ["--no-warnings", program, JSON.stringify(settings)],
      { timeout: PROCESS_MS, killSignal: "SIGKILL" },
      (error, _, errors) => {
        const isLate = error?.killed === true;
        resolve(isLate ? "late" : { signal: child.signalCode, code: child.exitCode, errors });
      },
    );
  });
}

/** Plays the agent. Its responses depend only on the last message, so lost history does not change them. */
function workerBrain(heard: string[]): Brain {
  return {
    async respond(request) {
      heard.push(spoken(request.messages.at(-1)));
      return { type: "steps", steps: stepsFor(request) };
    },
  };
}

function stepsFor({ messages }: BrainRequest): Step[] {
  const last = messages.at(-1);
  const text = spoken(last);
  if (text === "first") {
    return [
      { type: "start", role: "assistant" },
      { type: "text", text: "I look it up, " },
      { type: "text", text: "then I charge." },
      ...call("lookup"),
      ...call("charge"),
      { type: "stop", reason: "tool_use" },
    ];
  }
  if (text === "at home") {
    return [
      { type: "start", role: "assistant" },
      { type: "text", text: "I ask at home." },
      ...call("lookup"),
      ...call("home"),
      { type: "stop", reason: "tool_use" },
    ];
  }
  if (text === "emit") {
    return [
      { type: "start", role: "assistant" },
      { type: "text", text: "I show it." },
      ...call("emit_plan", { summary: "Sell tea.", steps: [{ step: "Brew", status: "active" }] }),
      ...call("emit_artifact", { kind: "mermaid", title: "Flow", spec: "graph TD\nA-->B" }),
      ...call("emit_handoff", { target_persona_or_human: "ada", task: "Pour the tea" }),
      { type: "stop", reason: "tool_use" },
    ];
  }
  if (text === "delegate") {
    return [
      { type: "start", role: "assistant" },
      { type: "text", text: "I delegate." },
      ...call("delegate", { task: "first" }),
      { type: "stop", reason: "tool_use" },
    ];
  }
  if (text === "ask me") {
    return [
      { type: "start", role: "assistant" },
      { type: "text", text: "I ask." },
      ...call("ask_user", { question: "Which city?" }),
      { type: "stop", reason: "tool_use" },
    ];
  }
  const answer = text.includes("connection was lost") ? "I go on." : `I heard: ${text}`;
  return [
    { type: "start", role: "assistant" },
    { type: "text", text: answer.slice(0, 8) },
    { type: "text", text: answer.slice(8) },
    { type: "stop", reason: "end_turn" },
  ];
}

/** Plays the agent as a model, which receives the whole conversation and has no other state. */
function workerModel({ messages }: ModelServerRequest, heard: string[]): ScriptedResponse {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1);
  const text = since.map(({ content }) => String(content)).join(" ");
  heard.push(text);
  if (text === "at home") {
    const asked = ["lookup", "home"].map((name) => ({ id: `call_${name}`, name }));
    return responds({ text: "I ask at home.", calls: asked });
  }
  if (text !== "first") return says(`I heard: ${text}`);
  const calls = ["lookup", "charge"].map((name) => ({ id: `call_${name}`, name }));
  return responds({ text: "I look it up, then I charge.", calls });
}

function call(name: string, input: JsonObject = {}): Step[] {
  return [
    { type: "call", id: `tooluse_${name}`, name, kind: "tool_use" },
    { type: "input", fragment: JSON.stringify(input) },
    { type: "close" },
  ];
}

function spoken(message: Message | undefined): string {
  const parts = (message?.content ?? []).map((content) =>
    "text" in content ? content.text : JSON.stringify(content),
  );
  return parts.join(" ");
}

/**
 * The log as users see it: messages, tools with their results, and turn ends. Without ids and times. Results are in the
 * order of the tool calls, because tools run concurrently. Results are looked up in `known`.
 */
export function transcript(log: readonly Envelope[], known = log): string[] {
  const results = new Map<string, string>();
  for (const { event } of known) {
    if (event.type !== "tool.finished") continue;
    results.set(event.toolCallId, `${event.ending} ${JSON.stringify(event.result.parts)}`);
  }
  return log.flatMap(({ event }) => line(event, results) ?? []);
}

function line(event: SessionEvent, results: ReadonlyMap<string, string>): string | undefined {
  switch (event.type) {
    case "message.sent":
      return `${event.origin}: ${event.content.map(formatPromptPart).join(" ")}`;
    case "text.finished":
      return `agent: ${event.text}${event.interrupted === true ? " [cut]" : ""}`;
    case "tool_call.received":
      return `${event.toolCall.name}: ${results.get(event.toolCallId) ?? "open"}`;
    case "invocation.lost":
      return "lost";
    case "turn.finished":
      return `turn ${event.outcome}`;
    default:
      return undefined;
  }
}

/** Processes of a group which can still run. Zombies (dead, not yet reaped) are excluded. */
export async function livingIn(group: number): Promise<string[]> {
  const living = [];
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    const [state, , ownGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (Number(ownGroup) === group && state !== "Z" && state !== "X") living.push(pid);
  }
  return living;
}
