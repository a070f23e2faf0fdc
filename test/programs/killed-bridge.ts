import { dirname } from "node:path";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import { openReceiptHeads } from "../../src/bridge/receipt-heads.ts";
import { openSigningKeys } from "../../src/bridge/audit/signing-keys.ts";
import type { LostInvocationPolicy } from "../../src/domain/agent-spec.ts";
import type { ApprovalDecision } from "../../src/domain/policy/approval-decision.ts";
import type { EventOf, SessionEvent } from "../../src/domain/events/session-event.ts";
import type { SessionCommand } from "../../src/domain/session-command.ts";
import { type PromptOptions, formatPromptPart } from "../../src/domain/prompt.ts";
import { openAiCompatible } from "../../src/models/openai-compatible.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { harnessProvider } from "../../src/providers/agentcore/harness-provider.ts";
import { localProvider } from "../../src/providers/local/local-provider.ts";
import type { Provider } from "../../src/providers/provider.ts";
import { createSessions } from "../../src/session/runtime/create-sessions.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { defineTool } from "../../src/tools/define-tool.ts";

/** Settings which the test passes to this process. */
export interface KilledBridge {
  readonly file: string;
  /** File to which the tools append one line per run. */
  readonly effects: string;
  /** Address of the emulator, or of the model of an agent whose loop runs in this process. */
  readonly endpoint: string;
  /** Null if the agent's loop runs in this process. */
  readonly harnessArn: string | null;
  readonly onLost: LostInvocationPolicy;
  /** The approver's decision about a tool which was running at a kill. */
  readonly outcome: ApprovalDecision;
  /** If true, the prompt has a client tool, for which this process submits the results. */
  readonly isPausing?: boolean;
  /** If true, messages and a reminder are injected while the agent works, and no second prompt follows. */
  readonly isSteering?: boolean;
  /** If true, the agent asks a person, and every further invocation needs an extension of a shared budget. */
  readonly isAsking?: boolean;
  /** If true, the conversation is compacted automatically in the second turn, and on command after it. */
  readonly isCompacting?: boolean;
  /** If true, the agent emits a plan, an artifact and a handoff. */
  readonly isEmitting?: boolean;
  /** If true, the prompt is delegated to a worker, which needs the two tools and the approval. */
  readonly isDelegating?: boolean;
  /** The append before or after which this process kills itself. Null: the process is not killed. */
  readonly kill: { readonly when: "before" | "after"; readonly append: number } | null;
}

/**
 * A bridge with a single session: a prompt which needs two tools and an approval, and a follow-up. Resumes where the
 * last process was killed, and exits when both turns have ended.
 */
const settings: KilledBridge = JSON.parse(process.argv[2] ?? "");
const { file, effects, endpoint, harnessArn, onLost, outcome, isPausing = false } = settings;
const { isSteering = false, isAsking = false } = settings;
const { isCompacting = false, isEmitting = false, isDelegating = false } = settings;
const principal = { id: "me", rights: ["prompt", "approve", "control"] } as const;

const script = 'echo "$1" >> "$2"; sleep 0.03; echo "$1 is done"';
const working = (name: string, idempotent: boolean) =>
  defineTool({
    name,
    description: `Does ${name}`,
    input: { type: "object" },
    idempotent,
    async run(_, context) {
      const { output, ended } = await context.spawn(
        "/bin/sh",
        ["-c", script, "sh", name, effects],
        {
          environment: { PATH: process.env["PATH"] ?? "" },
        },
      );
      const chunks: Uint8Array[] = [];
      for await (const chunk of output) chunks.push(chunk);
      await ended;
      return Buffer.concat(chunks).toString().trim();
    },
  });

const store = deadly(await openSqliteStore({ file }));
const agent = defineAgent({
  name: "worker",
  provider: provider(),
  tools: [working("lookup", true), working("charge", false)],
  approvals: { allow: isDelegating ? ["lookup", "delegate"] : ["lookup"], ask: ["charge"] },
  onLost,
  ...(isCompacting && {
    compaction: { strategy: "hybrid", thresholdTokens: 30, keepLast: 1 } as const,
  }),
  ...(isEmitting && { runtimeTools: ["emit_plan", "emit_artifact", "emit_handoff"] as const }),
  ...(isDelegating && { workers: true }),
  ...(isAsking && { askUser: true, budgets: { principal: { invocations: 1, toolCalls: 9 } } }),
});
const keys = await openSigningKeys(dirname(file), 1);
const heads = await openReceiptHeads(dirname(file), (error) => {
  throw error;
});
// Every event is a separate append, which gives the largest number of positions for a kill.
const sessions = createSessions({
  store,
  agents: [agent],
  clock: systemClock,
  owner: "killed",
  coalesceMs: 0,
  sign: keys.sign,
  verify: (content, signature) => keys.check(content, signature) === "valid",
  heads,
});
await sessions.resumeInterrupted();
const { sessionId } = await sessions.open({ sessionId: "ses_killed", principal });
const end = new AbortController();
/** Submitted commands without a reply. */
const asked: Promise<unknown>[] = [];
const home = { name: "home", description: "Asks at home", schema: { type: "object" } };
const firstText = isPausing
  ? "at home"
  : isAsking
    ? "ask me"
    : isEmitting
      ? "emit"
      : isDelegating
        ? "delegate"
        : "first";
asked.push(say(firstText, "prompt 1", isPausing ? { tools: [home] } : undefined));
let finished = 0;
/** The outcomes still missing: two deliveries and a rendered reminder. */
const owed = new Set(["steer", "queue", "reminder"]);
let openTurns = 0;
let manualCompaction = "";
/** Workers which are not closed. */
const openWorkers = new Set<string>();
for await (const { events } of sessions.subscribe(sessionId, undefined, end.signal)) {
  for (const { event } of events) {
    if (event.type === "approval.requested") {
      const { approvalId, question } = event;
      const decisions = { run: "allow", outcome, "lost-invocation": "reseed" } as const;
      const answer =
        question === "question"
          ? ({ answer: "Zürich" } as const)
          : { decision: question === "budget" ? ("continue" as const) : decisions[question] };
      const command = { type: "decide-approval", approvalId, ...answer } as const;
      asked.push(sessions.command(sessionId, command, { principal }));
    }
    if (event.type === "turn.paused") asked.push(give(event.toolCallIds));
    if (isSteering) {
      if (event.type === "invocation.started") asked.push(steer());
      if (event.type === "turn.started") openTurns += 1;
      if (event.type === "turn.finished") openTurns -= 1;
      if (event.type === "reminder.emitted") owed.delete("reminder");
      if (event.type === "message.sent" && event.origin === "inject")
        owed.delete(formatPromptPart(event.content[0] ?? { type: "text", text: "" }));
      if (owed.size === 0 && openTurns === 0) end.abort();
      continue;
    }
    if (event.type === "compaction.requested" && event.mode === "manual")
      manualCompaction = event.compactionId;
    if (isCompactionEnd(event) && event.compactionId === manualCompaction) end.abort();
    if (isDelegating) {
      if (event.type === "worker.spawned") openWorkers.add(event.workerId);
      if (event.type === "worker.closed") openWorkers.delete(event.workerId);
      if (event.type === "turn.finished") finished += 1;
      if (finished === 1 && openWorkers.size === 0) end.abort();
      continue;
    }
    if (event.type !== "turn.finished") continue;
    finished += 1;
    if (finished === 1) asked.push(say("follow-up", "prompt 2"));
    if (finished === 2 && isCompacting) asked.push(compact());
    else if (finished === 2) end.abort();
  }
}
await Promise.all(asked);
await sessions.close();
heads.close();
await store.close();

function provider(): Provider {
  if (harnessArn === null) {
    return localProvider({ model: openAiCompatible({ model: "worker", baseUrl: endpoint }) });
  }
  const credentials = { accessKeyId: "test", secretAccessKey: "test" };
  return harnessProvider({ harnessArn, endpoint, credentials });
}

async function say(text: string, commandId: string, options?: PromptOptions): Promise<void> {
  const wanted = options === undefined ? {} : { options };
  const command = { type: "prompt", content: [{ type: "text", text }], ...wanted } as const;
  await sessions.command(sessionId, command, { principal, commandId });
}

/** Every process repeats the command, and the first one is accepted once. */
async function compact(): Promise<void> {
  const command = { type: "compact" } as const;
  const reply = await sessions.command(sessionId, command, { principal, commandId: "compact 1" });
  if (reply.status === "refused") throw new Error(reply.failure.message);
}

function isCompactionEnd(
  event: SessionEvent,
): event is EventOf<"transcript.compacted" | "compaction.ended"> {
  return event.type === "transcript.compacted" || event.type === "compaction.ended";
}

/** Injects a reminder and two messages. Every process repeats this, and each is accepted once. */
async function steer(): Promise<void> {
  const reminder = {
    body: "Mind the time",
    tags: [],
    mode: "finish_step",
    roleHint: "system",
    authority: "contract",
    source: "bridge",
    propagate: "session",
  } as const;
  const commands: readonly SessionCommand[] = [
    { type: "remind", reminder },
    { type: "inject", mode: "steer", content: [{ type: "text", text: "steer" }] },
    { type: "inject", mode: "queue", content: [{ type: "text", text: "queue" }] },
  ];
  for (const [index, command] of commands.entries()) {
    const reply = await sessions.command(sessionId, command, {
      principal,
      commandId: `inject ${index}`,
    });
    if (reply.status === "refused") throw new Error(reply.failure.message);
  }
}

/** Submits results, also for a pause which an earlier process saw. Results submitted twice are accepted once. */
async function give(toolCallIds: readonly string[]): Promise<void> {
  const parts = [{ type: "text", text: "nobody is in" }] as const;
  const results = toolCallIds.map((toolCallId) => ({ toolCallId, parts, isError: false }));
  const commandId = `give ${toolCallIds.join()}`;
  await sessions.command(sessionId, { type: "submit-results", results }, { principal, commandId });
}

/** Kills the process at a single append, without any cleanup. */
function deadly(inner: Store): Store {
  const { kill } = settings;
  let appends = 0;
  return {
    ...inner,
    async append(...entry) {
      appends += 1;
      const isLast = appends === kill?.append;
      if (isLast && kill?.when === "before") process.kill(process.pid, "SIGKILL");
      const appended = await inner.append(...entry);
      if (isLast && kill?.when === "after") process.kill(process.pid, "SIGKILL");
      return appended;
    },
  };
}
