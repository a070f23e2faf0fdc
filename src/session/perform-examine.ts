import { guardCall } from "../async/call-guard.ts";
import { untilAborted } from "../async/pause.ts";
import { thrownMessage } from "../domain/errors.ts";
import type { Clock } from "../platform/clock.ts";
import { leadsNowhere } from "../domain/policy-decision.ts";
import type { CallToExamine, Examined, Tool, ToolContext } from "../tools/tool.ts";
import { examineBy, type Agent } from "./agent.ts";
import type { Effect } from "./due.ts";
import type { Happening } from "./input.ts";
import { problemWith } from "./problem-with.ts";
import { callFacts, pathsToFind } from "./tools/path-facts.ts";

export interface ExamineWork extends Pick<ToolContext, "editor" | "host"> {
  readonly agent: Agent;
  readonly clock: Clock;
  readonly workingDirectory?: string;
  readonly folders: readonly string[];
  readonly signal: AbortSignal;
  readonly send: (happening: Happening) => Promise<unknown>;
}

/** Looks at the arguments of a call before the rules are asked about it. What cannot be looked at leads nowhere. */
export async function performExamine(
  { toolCallId, name, input, digest, agent: by }: Extract<Effect, { type: "examine" }>,
  work: ExamineWork,
): Promise<void> {
  const { agent, signal, send } = work;
  const tool = agent.tools.get(name);
  const paths = tool === undefined ? [] : pathsToFind(callFacts(tool.facts, input, agent.facts));
  const problem = tool === undefined ? `There is no tool ${name} here.` : problemWith(tool, input);
  const found =
    problem === undefined ? await examined(tool, { name, input, paths }, work) : NOTHING;
  if (signal.aborted) return;
  const wrong = problem === undefined ? {} : { problem };
  await send({ type: "tool-examined", toolCallId, agent: by, digest, ...found, ...wrong });
}

const NOTHING: Examined = { paths: [] };

async function examined(
  tool: Tool | undefined,
  call: Pick<CallToExamine, "name" | "input" | "paths">,
  { agent, clock, workingDirectory, folders, signal: caller, editor, host }: ExamineWork,
): Promise<Examined> {
  const { paths } = call;
  if (paths.length === 0) return NOTHING;
  const place = {
    folders,
    ...(workingDirectory !== undefined && { workingDirectory }),
    ...(editor !== undefined && { editor, host }),
  };
  const guard = guardCall(clock, caller, { limit: "look", milliseconds: LOOK_MS });
  const { signal } = guard;
  try {
    const looked = examineBy(tool, agent, { ...call, signal, ...place });
    return looked === undefined
      ? nowhere(paths, "The agent has no workspace")
      : await untilAborted(looked, signal);
  } catch (error) {
    const late = `It could not be looked at in ${LOOK_MS / 1000} seconds`;
    return nowhere(paths, guard.reached === null ? thrownMessage(error) : late);
  } finally {
    guard.release();
  }
}

/** A disk may be far away, or gone. */
const LOOK_MS = 30_000;

function nowhere(paths: CallToExamine["paths"], reason: string): Examined {
  return { paths: paths.map((path) => leadsNowhere(path, reason)) };
}
