import type { Actor } from "../../../src/domain/actor.ts";
import type { ApprovalRequested } from "../../../src/domain/events/approval-events.ts";
import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import type { PromptPart } from "../../../src/domain/prompt.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import type { CommandReply, SessionCommand } from "../../../src/domain/session-command.ts";
import type { Sender, Sessions } from "../../../src/session/sessions.ts";
import { createScriptedProvider } from "./scripted-provider.ts";
import { createAgent } from "./session-world.ts";
import type { EventBatch } from "../../../src/store/log-store.ts";
import type { SessionRecord } from "../../../src/store/session-index.ts";
import { formatTail, withDeadline } from "../with-deadline.ts";

/** Sessions whose agent is the test: the test appends events to the log and sees every command. */
export interface ScriptedSessions extends Sessions {
  /** Appends events to a session, like its agent or its runtime. */
  say(sessionId: string, ...events: readonly SessionEvent[]): void;
  readonly commands: readonly ReceivedCommand[];
  readLog(sessionId: string): readonly Envelope[];
  /** The running turn. Undefined if the session is idle. */
  readTurnId(sessionId: string): string | undefined;
  /** Resolves when a command of this type has been received. */
  waitForCommand<Type extends SessionCommand["type"]>(type: Type): Promise<CommandOf<Type>>;
}

export interface ReceivedCommand {
  readonly sessionId: string;
  readonly command: SessionCommand;
  readonly from: Sender;
}

type CommandOf<Type extends SessionCommand["type"]> = Extract<SessionCommand, { type: Type }>;

interface Script {
  /** Called when a turn starts. */
  readonly turn?: (turn: ScriptedTurn) => void;
}

export interface ScriptedTurn {
  readonly sessionId: string;
  readonly turnId: string;
  readonly prompt: readonly PromptPart[];
  say(...events: readonly SessionEvent[]): void;
  end(outcome?: "completed" | "failed"): void;
}

interface Log {
  readonly sessionId: string;
  readonly principal: string;
  readonly events: Envelope[];
  readonly queue: { readonly promptId: string; readonly content: readonly PromptPart[] }[];
  turnId: string | undefined;
  controller: string | undefined;
}

const REFUSED_REPLY: CommandReply = {
  status: "refused",
  failure: { code: "conflict", message: "refused by the script", details: {} },
};

export function createScriptedSessions({ turn }: Script = {}): ScriptedSessions {
  const logs = new Map<string, Log>();
  const commands: ReceivedCommand[] = [];
  let waiters: (() => void)[] = [];
  let count = 0;
  const next = (prefix: string): string => `${prefix}_${(count += 1)}`;

  function wakeAll(): void {
    const waking = waiters;
    waiters = [];
    for (const waiter of waking) waiter();
  }

  function append(log: Log, event: SessionEvent, actor?: Actor): void {
    const { sessionId, events, turnId } = log;
    events.push({
      sessionId,
      seq: events.length + 1,
      at: events.length,
      ...(turnId !== undefined && { turnId }),
      ...(actor !== undefined && { actor }),
      visibility: "public",
      event,
    });
    if (event.type === "turn.finished") {
      log.turnId = undefined;
      queueMicrotask(() => startNext(log));
    }
    wakeAll();
  }

  function startNext(log: Log): void {
    const prompt = log.turnId === undefined ? log.queue.shift() : undefined;
    if (prompt === undefined) return;
    const { sessionId } = log;
    const { promptId, content } = prompt;
    const turnId = next("turn");
    log.turnId = turnId;
    append(log, { type: "turn.started", turnId, promptId });
    const messageId = next("msg");
    append(log, { type: "message.sent", messageId, content, origin: "prompt", promptId });
    const say = (...events: readonly SessionEvent[]): void => {
      if (log.turnId === turnId) for (const event of events) append(log, event);
    };
    const end = (outcome: "completed" | "failed" = "completed"): void =>
      say({ type: "turn.finished", turnId, outcome, reason: null, usage: null, steps: 1 });
    queueMicrotask(() => turn?.({ sessionId, turnId, prompt: content, say, end }));
  }

  function openApproval({ events }: Log, approvalId: string): ApprovalRequested | undefined {
    let open: ApprovalRequested | undefined;
    for (const { event } of events) {
      if (event.type === "approval.requested" && event.approvalId === approvalId) open = event;
      if (event.type === "approval.resolved" && event.approvalId === approvalId) open = undefined;
    }
    return open;
  }

  function take(log: Log, command: SessionCommand, actor: Actor): CommandReply {
    switch (command.type) {
      case "attach": {
        const isTaken = log.controller !== undefined && log.controller !== command.clientId;
        if (command.mode === "controller" && isTaken) return REFUSED_REPLY;
        if (command.mode === "controller") log.controller = command.clientId;
        const { clientId, mode, name, mayPrompt = false, mayApprove = false } = command;
        const { isStock = false } = command;
        const may = { mayPrompt, mayApprove, isStock };
        append(log, { type: "client.attached", clientId, mode, name, ...may });
        return { status: "accepted" };
      }
      case "detach":
        if (log.controller === command.clientId) log.controller = undefined;
        append(log, {
          type: "client.detached",
          clientId: command.clientId,
          reason: command.reason,
        });
        return { status: "accepted" };
      case "prompt": {
        const promptId = next("prompt");
        const content = command.content.filter((part) => part.type === "text");
        append(log, { type: "prompt.accepted", promptId, content }, actor);
        log.queue.push({ promptId, content });
        startNext(log);
        return { status: "accepted", promptId };
      }
      case "withdraw-prompt": {
        const at = log.queue.findIndex(({ promptId }) => promptId === command.promptId);
        if (at === -1) return REFUSED_REPLY;
        log.queue.splice(at, 1);
        append(log, { type: "prompt.withdrawn", promptId: command.promptId, reason: "asked" });
        return { status: "accepted" };
      }
      case "cancel": {
        const { turnId } = log;
        if (turnId === undefined || (command.turnId ?? turnId) !== turnId) {
          return { status: "accepted" };
        }
        const how = { outcome: "cancelled", reason: null, usage: null, steps: 1 } as const;
        append(log, { type: "turn.finished", turnId, ...how });
        return { status: "accepted", turnId };
      }
      case "decide-approval": {
        const { approvalId, decision = "deny" } = command;
        if (openApproval(log, approvalId) === undefined) return REFUSED_REPLY;
        append(log, { type: "approval.resolved", approvalId, decision, resolvedBy: "person" });
        return { status: "accepted" };
      }
      default:
        return REFUSED_REPLY;
    }
  }

  function record({ sessionId, principal, events }: Log): SessionRecord {
    return {
      sessionId,
      incarnation: "1",
      agent: "scripted",
      principal,
      state: "idle",
      title: null,
      workingDirectory: null,
      folders: [],
      label: null,
      lineage: null,
      createdAt: 0,
      updatedAt: events.length,
      seq: events.length,
      wakeAt: null,
    };
  }

  function logOf(sessionId: string): Log {
    const log = logs.get(sessionId);
    if (log === undefined) throw new Error(`no session ${sessionId}`);
    return log;
  }

  return {
    agents: ["scripted"],
    commands,
    readLog: (sessionId) => logOf(sessionId).events,
    readTurnId: (sessionId) => logOf(sessionId).turnId,
    say(sessionId, ...events) {
      for (const event of events) append(logOf(sessionId), event);
    },
    async waitForCommand<Type extends SessionCommand["type"]>(
      type: Type,
    ): Promise<CommandOf<Type>> {
      for (;;) {
        const found = commands.map(({ command }) => command).find(matchesType(type));
        if (found !== undefined) return found;
        const next = new Promise<void>((resolve) => {
          waiters.push(resolve);
        });
        await withDeadline(
          next,
          () => `no command ${type}; these came:\n  ${formatTail(commands)}`,
        );
      }
    },
    async open({ principal }) {
      const sessionId = next("ses");
      const log: Log = {
        sessionId,
        principal: principal.id,
        events: [],
        queue: [],
        turnId: undefined,
        controller: undefined,
      };
      logs.set(sessionId, log);
      append(log, { type: "session.opened", agent: "scripted", principal: principal.id });
      return record(log);
    },
    async command(sessionId, command, from) {
      commands.push({ sessionId, command, from });
      const { clientId } = from;
      const actor: Actor = {
        kind: "user",
        principal: from.principal.id,
        ...(clientId !== undefined && { clientId }),
      };
      const reply = take(logOf(sessionId), command, actor);
      wakeAll();
      // A real session writes to its log before it replies.
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      return reply;
    },
    async *subscribe(sessionId, cursor, signal): AsyncGenerator<EventBatch> {
      let at = cursor?.seq ?? 0;
      const { events } = logOf(sessionId);
      signal.addEventListener("abort", wakeAll);
      while (!signal.aborted) {
        if (events.length === at) {
          await new Promise<void>((resolve) => {
            waiters.push(resolve);
          });
          continue;
        }
        const fresh = events.slice(at);
        at = events.length;
        yield { incarnation: "1", events: fresh };
      }
    },
    async setClientTools() {
      return { status: "accepted", problems: [] };
    },
    checkCredentials: async () => {},
    checkLog: async () => {},
    openWithPrompt: () => Promise.reject(new Error("openWithPrompt is not available in this test")),
    readUsage: () => Promise.reject(new Error("These sessions have no usage")),
    status: async () => ({
      agent: createAgent({ provider: createScriptedProvider([]) }).spec,
      mode: "default",
      metadata: {},
      usage: null,
      grants: [],
      lastPrompt: null,
      pendingToolCallIds: [],
      promptTools: [],
      hiddenPromptIds: [],
      clients: [],
      pendingInjections: [],
      workers: [],
      openApprovals: [],
    }),
    readHistory: () => Promise.reject(new Error("These sessions have no history")),
    listToolRules: async () => [],
    async *watchSessions() {},
    readBlob: async () => undefined,
    readRecord: async () => undefined,
    putRecord: () => Promise.reject(new Error("These sessions have no records")),
    deleteRecord: async () => false,
    listRecords: async () => ({ records: [] }),
    async find(sessionId) {
      const log = logs.get(sessionId);
      return log && record(log);
    },
    async list({ limit, principal }) {
      const own = [...logs.values()].filter(
        (log) => log.principal === (principal ?? log.principal),
      );
      return { sessions: own.toReversed().slice(0, limit).map(record) };
    },
    async delete(sessionId) {
      return logs.delete(sessionId);
    },
  };
}

function matchesType<Type extends SessionCommand["type"]>(
  type: Type,
): (command: SessionCommand) => command is CommandOf<Type> {
  return (command): command is CommandOf<Type> => command.type === type;
}
