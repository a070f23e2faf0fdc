import { MODE_DESCRIPTIONS, isSessionMode, SESSION_MODES } from "../../domain/session-mode.ts";
import type { ToolRule } from "../../domain/tools/tool-rule.ts";
import { pluralize } from "../../text/pluralize.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";
import { STATE_NAMES } from "../shell/filter-sessions.ts";
import type { ActionResult, SessionActions } from "../state/session-actions.ts";
import type { SessionView } from "../state/session-view.ts";
import { listWorkerAgents } from "../state/worker-agents.ts";
import { findCommand, listBuiltInCommands } from "./composer-commands.ts";

/** The result of a command of the bridge, for the person who typed the command. */
export interface CommandReply {
  /** The name of the command, without its slash. */
  readonly command: string;
  /** Shown in place of rows. */
  readonly text?: string;
  readonly rows: readonly ReplyRow[];
}

export interface ReplyRow {
  readonly name: string;
  readonly text: string;
}

/** The requests of commands. */
type CommandActions = Pick<
  SessionActions,
  "compact" | "delegate" | "setMode" | "revokeGrant" | "listTools"
>;

/**
 * - `reply`: shown at once.
 * - `act`: a request to the bridge. Resolves with a reply if there is something to show.
 */
export type BridgeCommandRun =
  | { readonly type: "reply"; readonly reply: CommandReply }
  | { readonly type: "problem"; readonly problem: string }
  | {
      readonly type: "act";
      readonly act: (actions: CommandActions) => Promise<ActionResult<CommandReply | undefined>>;
    };

/** Reads a command of the bridge, such as `/status`. Undefined for any other text. */
export function readBridgeCommand(text: string, view: SessionView): BridgeCommandRun | undefined {
  const found = findCommand(text, listBuiltInCommands(view.agentSpec?.commands ?? []));
  if (found === undefined) return undefined;
  const { argument } = found;
  const { name } = found.command;
  switch (name) {
    case "status":
      return { type: "reply", reply: { command: "status", rows: describeStatus(view) } };
    case "tools":
      return { type: "act", act: listTools };
    case "mode":
      return readModeCommand(argument, view);
    case "permissions":
      return readPermissionsCommand(argument, view);
    case "compact": {
      const options = argument === "" ? {} : { instructions: argument };
      return { type: "act", act: (actions) => withoutReply(actions.compact(options)) };
    }
    case "delegate":
      return readDelegateCommand(argument, view);
    default:
      return name satisfies never;
  }
}

function describeStatus(view: SessionView): readonly ReplyRow[] {
  const { sessionId, agent, agentSpec, workingDirectory, mode, usage, clients } = view;
  const tools = agentSpec === null ? "" : `, ${pluralize(agentSpec.tools.length, "tool")}`;
  const tokens =
    usage === null
      ? "not known yet"
      : `${usage.inputTokens} input, ${usage.outputTokens} output, ${usage.totalTokens} total`;
  return [
    { name: "Session", text: `${sessionId}, ${describeState(view)}` },
    ...(workingDirectory === null ? [] : [{ name: "Folder", text: workingDirectory }]),
    { name: "Agent", text: `${agent}${tools}` },
    { name: "Mode", text: MODE_DESCRIPTIONS[mode].name },
    { name: "Tokens", text: tokens },
    { name: "Clients", text: clients.map(({ name }) => name).join(", ") || "none" },
  ];
}

function describeState({ openApprovals, turns }: SessionView): string {
  const isRunning = turns.at(-1)?.end === null;
  const state = openApprovals.length > 0 ? "waiting" : isRunning ? "running" : "idle";
  return STATE_NAMES[state].toLowerCase();
}

async function listTools(actions: CommandActions): Promise<ActionResult<CommandReply>> {
  const result = await actions.listTools();
  if (!result.ok) return result;
  const text = "The agent has no tools that run here";
  const rows = result.value.map(({ name, action, dependsOnArguments }) => ({
    name,
    text: `${ACTION_TEXTS[action]}${dependsOnArguments ? "; its arguments may change this" : ""}`,
  }));
  return { ok: true, value: { command: "tools", rows, ...(rows.length === 0 && { text }) } };
}

const ACTION_TEXTS: { readonly [Action in ToolRule["action"]]: string } = {
  allow: "allowed",
  ask: "needs approval",
  deny: "denied",
};

function readModeCommand(argument: string, { mode }: SessionView): BridgeCommandRun {
  if (isSessionMode(argument))
    return { type: "act", act: (actions) => withoutReply(actions.setMode(argument)) };
  if (argument !== "")
    return {
      type: "problem",
      problem: formatUnknownName("Mode", argument, { names: SESSION_MODES }),
    };
  const rows = SESSION_MODES.map((known) => ({
    name: known,
    text: `${MODE_DESCRIPTIONS[known].description}${known === mode ? " (present mode)" : ""}`,
  }));
  return { type: "reply", reply: { command: "mode", rows } };
}

function readPermissionsCommand(argument: string, { grants }: SessionView): BridgeCommandRun {
  const [, grantId] = /^revoke\s+(\S+)$/.exec(argument) ?? [];
  if (grantId !== undefined)
    return { type: "act", act: (actions) => withoutReply(actions.revokeGrant(grantId)) };
  if (argument !== "")
    return {
      type: "problem",
      problem: `/permissions ${argument} is not valid: expected revoke ID`,
    };
  const rows = grants.map(({ grantId: name, label }) => ({ name, text: label }));
  const text = "No permanent grants";
  const reply = { command: "permissions", rows, ...(rows.length === 0 && { text }) };
  return { type: "reply", reply };
}

function readDelegateCommand(task: string, view: SessionView): BridgeCommandRun {
  if (listWorkerAgents(view).length === 0)
    return { type: "problem", problem: "This session cannot start workers" };
  if (task === "")
    return { type: "problem", problem: "/delegate is not complete: expected /delegate TASK" };
  return {
    type: "act",
    async act(actions) {
      const result = await actions.delegate(task);
      if (!result.ok) return result;
      return {
        ok: true,
        value: { command: "delegate", text: "The worker has started", rows: [] },
      };
    },
  };
}

/** The result of a request which has nothing to show. */
export async function withoutReply(
  result: Promise<ActionResult>,
): Promise<ActionResult<undefined>> {
  const settled = await result;
  return settled.ok ? { ok: true, value: undefined } : settled;
}
