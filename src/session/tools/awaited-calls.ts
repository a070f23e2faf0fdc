import type { ToolAwaited } from "../../domain/agent-event.ts";
import { agentOf, type Work } from "../work.ts";
import { askWhatCame, startTool } from "./advance-tools.ts";
import { finishTool, unknownText } from "./finish-tool.ts";
import { isStillAllowed } from "./rule-on.ts";
import { toolDigest } from "./tool-digest.ts";
import type { ToolRun } from "./tools-state.ts";

/**
 * A call that runs on a client's machine outlives the client's connection, and this process. Where that machine knows its
 * calls again, it is waited for; false where it does not.
 */
export function awaitClient(work: Work, run: ToolRun, after: ToolAwaited["after"]): boolean {
  const facts = agentOf(work).tools.find(({ name }) => name === run.name);
  const isKnown = facts?.idempotent === true && facts.traits?.executor?.type === "host";
  if (!isKnown || run.attempt >= MAX_ATTEMPTS[after]) return false;
  const { toolCallId, name } = run;
  const until = work.at + RETURN_MS;
  const tool = toolDigest(agentOf(work), name);
  work.emit({ type: "tool.awaited", toolCallId, tool, after, until });
  return true;
}

/** A call that never lives to see its end may be what ends the bridge. That a client comes and goes is nobody's fault. */
const MAX_ATTEMPTS = { kill: 3, loss: 20 } as const;

/** Four times the longest pause that a client of our kit makes before it tries again. */
const RETURN_MS = 60_000;

/** Waits anew: while no bridge was there nobody could come. */
export function awaitAgain(work: Work, { toolCallId, awaited }: ToolRun): void {
  if (awaited === undefined) return;
  const until = work.at + RETURN_MS;
  work.emit({ type: "tool.awaited", toolCallId, ...awaited, after: "kill", until });
}

/** Puts calls to their clients again whose tools are there again, just as they were. */
export function repeatAwaited(work: Work): void {
  for (const run of awaitedRuns(work)) {
    const agent = agentOf(work);
    if (!agent.tools.some(({ name }) => name === run.name)) continue;
    const isSame = toolDigest(agent, run.name) === run.awaited?.tool;
    if (isSame && isStillAllowed(work, run)) startTool(work, run, { isRepeat: true });
    else askWhatCame(work, run);
  }
}

/** Nobody came. After a kill somebody is asked; a client that went has left its call behind, and nobody else can know. */
export function giveUpAwaited(work: Work): void {
  for (const run of awaitedRuns(work)) {
    const { after, until = 0 } = run.awaited ?? {};
    if (until > work.at) continue;
    if (after === "kill") askWhatCame(work, run);
    else finishTool(work, run, { ending: "unknown", text: unknownText(run) });
  }
}

function awaitedRuns({ state }: Work): readonly ToolRun[] {
  return state.tools.runs.filter(({ status }) => status === "awaited");
}
