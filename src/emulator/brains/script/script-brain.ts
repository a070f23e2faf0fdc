import { dirname, resolve } from "node:path";
import { isObject, type JsonValue } from "../../../domain/json.ts";
import type { Clock } from "../../../platform/clock.ts";
import { ServiceError } from "../../exchange.ts";
import { readRecording, replay } from "../../recording.ts";
import type { Answer, Brain, BrainRequest } from "../brain.ts";
import { textOf, toolResultsOf, toolUsesOf, type Message } from "../message.ts";
import { seededRandom } from "../random.ts";
import type { Condition, ResultCondition, Scenario, ScriptTurn } from "./scenario.ts";
import { pickedFaults } from "./picked-faults.ts";
import { scriptSteps } from "./script-steps.ts";

/** Says what its scenario says. The same scenario and the same turn of a session give the same bytes. */
export function scriptBrain(scenario: Scenario, clock: Clock): Brain {
  const inOrder = scenario.turns.filter(({ when }) => when === null);
  return {
    async answer(request) {
      const played = playedSoFar(request.note);
      const matched = scenario.turns.find(
        ({ when }) => when !== null && holds(when, request.messages),
      );
      const turn =
        matched ??
        inOrder[scenario.repeat ? played % inOrder.length : played] ??
        nothingLeft(scenario, request);
      const note = { played: matched === undefined ? played + 1 : played };
      return { ...(await answerOf(turn, { scenario, request, clock })), note };
    },
  };
}

interface Stage {
  readonly scenario: Scenario;
  readonly request: BrainRequest;
  readonly clock: Clock;
}

async function answerOf(turn: ScriptTurn, { scenario, request, clock }: Stage): Promise<Answer> {
  const { refuse, replay: again } = turn;
  if (refuse !== null) {
    const { status, type, message, members } = refuse;
    return { type: "refused", error: new ServiceError(status, type, message, members) };
  }
  if (again !== null) {
    const recording = await readRecording(resolve(dirname(scenario.file), again.file));
    return { type: "ready", outgoing: replay(recording, again.speed, clock) };
  }
  const random = seededRandom(scenario.seed, request.turn, scenario.turns.indexOf(turn));
  const faults = pickedFaults(turn.faults, random);
  return { type: "steps", steps: scriptSteps(turn.answer, { scenario, request, random }), faults };
}

function playedSoFar(note: JsonValue): number {
  const played = isObject(note) ? note["played"] : undefined;
  return typeof played === "number" ? played : 0;
}

function holds({ prompt, pattern, result }: Condition, messages: readonly Message[]): boolean {
  const newest = messages.at(-1);
  const text = textOf(newest);
  if (prompt !== null && !text.toLowerCase().includes(prompt.toLowerCase())) return false;
  if (pattern !== null && !pattern.test(text)) return false;
  return result === null || hasResult(result, newest, messages.at(-2));
}

function hasResult(
  { tool, status, text }: ResultCondition,
  newest: Message | undefined,
  before: Message | undefined,
): boolean {
  const names = new Map(toolUsesOf(before).map(({ toolUseId, name }) => [toolUseId, name]));
  return toolResultsOf(newest).some(
    (result) =>
      (tool === null || names.get(result.toolUseId) === tool) &&
      (status === null || (result.status ?? "success") === status) &&
      (text === null || JSON.stringify(result.content).includes(text)),
  );
}

function nothingLeft(scenario: Scenario, { messages }: BrainRequest): ScriptTurn {
  const prompt = textOf(messages.at(-1)).slice(0, 60);
  const message = `${scenario.file} has no turn left for "${prompt}"; add one, or set "repeat: true"`;
  throw new ServiceError(424, "RuntimeClientError", message);
}
