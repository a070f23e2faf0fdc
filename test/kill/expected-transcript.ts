import type { LostInvocationPolicy } from "../../src/domain/agent-spec.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import { evolve } from "../../src/session/evolve.ts";
import { initialState, type SessionState } from "../../src/session/session-state.ts";
import { transcript } from "./kill-world.ts";

export interface Killed {
  readonly onLost: LostInvocationPolicy;
  /** The log at the time of the kill, and at the end. */
  readonly before: readonly Envelope[];
  readonly after: readonly Envelope[];
  /** The transcript of a session without a kill. */
  readonly undisturbed: readonly string[];
}

/** The transcript which users must see in the end, depending on the work which the kill interrupted. */
export function expectedTranscript(killed: Killed): readonly string[] {
  const { before, undisturbed } = killed;
  const { turn, tools } = stateOf(before);
  if (turn.current?.stage.type === "invoking") return afterLostCall(killed);
  const wasCharging = tools.runs.some(
    ({ name, status }) => name === "charge" && status === "running",
  );
  if (!wasCharging) return undisturbed;
  const lost = "charge did its work; its output was lost when the bridge was killed.";
  return undisturbed.map((line) => line.replace("charge is done", lost));
}

/** The transcript up to the lost invocation, the note about the loss, and the continuation which `onLost` defines. */
function afterLostCall({ onLost, before, after, undisturbed }: Killed): readonly string[] {
  const prefix = [...transcript(before, after), ...cutTexts(before), "lost"];
  if (onLost !== "continue") {
    const start = before.findLastIndex(({ event }) => event.type === "invocation.started");
    return [...prefix, ...undisturbed.slice(transcript(before.slice(0, start), after).length)];
  }
  const followUp = undisturbed.indexOf("prompt: follow-up");
  const isFirstTurn = !prefix.includes("turn completed");
  return [
    ...prefix,
    transcript(after).find((line) => line.startsWith("recovery: The connection was lost")) ?? "",
    "agent: I go on.",
    "turn completed",
    ...(isFirstTurn ? undisturbed.slice(followUp) : []),
  ];
}

function cutTexts(log: readonly Envelope[]): string[] {
  const stage = stateOf(log).turn.current?.stage;
  if (stage?.type !== "invoking") return [];
  return stage.invocation.messages.flatMap(({ blocks }) =>
    blocks.flatMap((block) =>
      block.type === "text" && !block.isFinished ? [`agent: ${block.text} [cut]`] : [],
    ),
  );
}

export function stateOf(log: readonly Envelope[]): SessionState {
  return log.reduce(evolve, initialState);
}
