import {
  measureArtifact,
  measureJson,
  SESSION_ARTIFACT_LIMITS,
} from "../../domain/outputs/artifact.ts";
import { WATCH_LIMITS } from "../../domain/outputs/file-watch.ts";
import type { StoredEmission, ToolEmission } from "../../domain/tools/tool-output.ts";
import type { ArtifactsState } from "../artifacts/artifacts-state.ts";
import type { WatchesState } from "../watches/watches-state.ts";

/** The parts of a session which limit the emissions of its tools. */
export interface EmissionRoom {
  readonly artifacts: ArtifactsState;
  readonly watches: WatchesState;
}

/**
 * Returns why a session has no room for the emissions of a tool call. Undefined if the session has room. Tool calls of
 * one turn run in parallel, so the room before a call is not the room at its end.
 */
export function findEmissionProblem(
  room: EmissionRoom,
  emissions: readonly (ToolEmission | StoredEmission)[],
): string | undefined {
  return findArtifactProblem(room, emissions) ?? findWatchProblem(room, emissions);
}

function findArtifactProblem(
  { artifacts }: EmissionRoom,
  emissions: readonly (ToolEmission | StoredEmission)[],
): string | undefined {
  let { count, bytes } = artifacts;
  let isCounted = false;
  for (const emission of emissions) {
    if (emission.type !== "artifact" && emission.type !== "handoff") continue;
    isCounted = true;
    count += 1;
    bytes +=
      emission.type === "artifact"
        ? measureArtifact(emission.artifact)
        : measureJson(emission.handoff);
  }
  const { count: maxCount, bytes: maxBytes } = SESSION_ARTIFACT_LIMITS;
  if (!isCounted || (count <= maxCount && bytes <= maxBytes)) return undefined;
  const limits = `at most ${maxCount} artifacts with ${maxBytes} bytes`;
  return `the session has no room for further artifacts: ${limits}. Fix: show the content as text`;
}

function findWatchProblem(
  { watches }: EmissionRoom,
  emissions: readonly (ToolEmission | StoredEmission)[],
): string | undefined {
  const active = new Map(
    watches.subscriptions.map(({ subscriptionId, owner }) => [subscriptionId, owner.kind]),
  );
  for (const emission of emissions) {
    if (emission.type === "unwatch" && active.get(emission.subscriptionId) === "agent")
      active.delete(emission.subscriptionId);
    if (emission.type !== "watch") continue;
    const { subscriptionId } = emission;
    if (active.has(subscriptionId)) return `the subscription ${subscriptionId} already exists`;
    if (active.size >= WATCH_LIMITS.subscriptions) return formatWatchLimit(active);
    active.set(subscriptionId, "agent");
  }
  return undefined;
}

/** The agent can end its own subscriptions only. */
function formatWatchLimit(active: ReadonlyMap<string, string>): string {
  const own = [...active].flatMap(([id, owner]) => (owner === "agent" ? [id] : []));
  const fix =
    own.length === 0
      ? "ask the user to end a subscription"
      : `end one of your subscriptions with unwatch: ${own.join(", ")}`;
  return `the session has ${WATCH_LIMITS.subscriptions} subscriptions, the most it may have. Fix: ${fix}`;
}
