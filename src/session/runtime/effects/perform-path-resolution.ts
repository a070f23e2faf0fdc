import { guardInvocation } from "../../../async/invocation-guard.ts";
import { waitUnlessAborted } from "../../../async/pause.ts";
import { formatThrown } from "../../../domain/errors.ts";
import type { Clock } from "../../../platform/clock.ts";
import { createUnresolvedPath } from "../../../domain/policy/policy-decision.ts";
import type { ToolCallToExamine, Examination, Tool, ToolContext } from "../../../tools/tool.ts";
import { resolveToolPaths, type Agent } from "../agent/agent.ts";
import type { Effect } from "../../due-effects.ts";
import type { SessionInput } from "../../session-input.ts";
import { findToolInputProblem } from "./tool-input-problem.ts";
import { readToolCallFacts, listPathsToResolve } from "../../tools/tool-call-paths.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

export interface PathResolutionContext extends Pick<ToolContext, "editor" | "host"> {
  readonly agent: Agent;
  readonly clock: Clock;
  readonly workingDirectory?: string;
  readonly folders: readonly string[];
  readonly signal: AbortSignal;
  readonly send: (input: SessionInput) => Promise<unknown>;
}

/** Resolves the paths of a tool call before the rules are evaluated. Paths which cannot be resolved are `invalid`. */
export async function performPathResolution(
  {
    toolCallId,
    name,
    input,
    digest,
    agent: agentDigest,
  }: Extract<Effect, { type: "resolve-paths" }>,
  context: PathResolutionContext,
): Promise<void> {
  const { agent, signal, send } = context;
  const tool = agent.tools.get(name);
  const paths =
    tool === undefined ? [] : listPathsToResolve(readToolCallFacts(tool.spec, input, agent.spec));
  const problem =
    tool === undefined ? `${name} is not an available tool.` : findToolInputProblem(tool, input);
  const found =
    problem === undefined ? await resolvePaths(tool, { name, input, paths }, context) : NO_PATHS;
  if (signal.aborted) return;
  const problemField = problem === undefined ? {} : { problem };
  await send({
    type: "paths-resolved",
    toolCallId,
    agent: agentDigest,
    digest,
    ...found,
    ...problemField,
  });
}

const NO_PATHS: Examination = { paths: [] };

async function resolvePaths(
  tool: Tool | undefined,
  call: Pick<ToolCallToExamine, "name" | "input" | "paths">,
  { agent, clock, workingDirectory, folders, signal: caller, editor, host }: PathResolutionContext,
): Promise<Examination> {
  const { paths } = call;
  if (paths.length === 0) return NO_PATHS;
  const location = {
    folders,
    ...omitUndefined({ workingDirectory }),
    ...(editor !== undefined && { editor, host }),
  };
  const guard = guardInvocation(clock, caller, { limit: "look", milliseconds: RESOLVE_TIMEOUT_MS });
  const { signal } = guard;
  try {
    const resolution = resolveToolPaths(tool, agent, { ...call, signal, ...location });
    return resolution === undefined
      ? createUnresolvedPaths(paths, "The agent has no workspace")
      : await waitUnlessAborted(resolution, signal);
  } catch (error) {
    const timeoutReason = `It could not be resolved within ${RESOLVE_TIMEOUT_MS / 1000} seconds`;
    return createUnresolvedPaths(
      paths,
      guard.reachedLimit === null ? formatThrown(error) : timeoutReason,
    );
  } finally {
    guard.release();
  }
}

/** Milliseconds. A network disk may be slow or gone. */
const RESOLVE_TIMEOUT_MS = 30_000;

function createUnresolvedPaths(paths: ToolCallToExamine["paths"], reason: string): Examination {
  return { paths: paths.map((path) => createUnresolvedPath(path, reason)) };
}
