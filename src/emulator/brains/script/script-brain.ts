import { dirname, resolve } from "node:path";
import { isObject, type JsonValue } from "../../../data/json.ts";
import type { Clock } from "../../../platform/clock.ts";
import { ServiceError } from "../../service/service-types.ts";
import { readRecording, replayRecording } from "../../recording/recording.ts";
import type { BrainResponse, Brain, BrainRequest } from "../brain.ts";
import { joinTexts, readToolResults, readToolUses, type Message } from "../session-message.ts";
import { createSeededRandom } from "../seeded-random.ts";
import type { Condition, ResultCondition, Scenario, ScriptTurn } from "./scenario.ts";
import { pickFaults } from "./pick-faults.ts";
import { generateScriptSteps } from "./script-steps.ts";

/** Plays a scenario. The same scenario and turn number always produce the same bytes. */
export function createScriptBrain(scenario: Scenario, clock: Clock): Brain {
  const inOrder = scenario.turns.filter(({ when }) => when === null);
  return {
    async respond(request) {
      const playedCount = readPlayedCount(request.note);
      const matched = scenario.turns.find(
        ({ when }) => when !== null && matchesCondition(when, request.messages),
      );
      const turn =
        matched ??
        inOrder[scenario.repeat ? playedCount % inOrder.length : playedCount] ??
        refuseWithoutTurn(scenario, request);
      const note = { played: matched === undefined ? playedCount + 1 : playedCount };
      return { ...(await createResponse(turn, { scenario, request, clock })), note };
    },
  };
}

interface ScriptContext {
  readonly scenario: Scenario;
  readonly request: BrainRequest;
  readonly clock: Clock;
}

async function createResponse(
  turn: ScriptTurn,
  { scenario, request, clock }: ScriptContext,
): Promise<BrainResponse> {
  const { refuse, replay: replayOptions } = turn;
  if (refuse !== null) {
    const { status, type, message, members } = refuse;
    return { type: "refused", error: new ServiceError(status, type, message, members) };
  }
  if (replayOptions !== null) {
    const recording = await readRecording(resolve(dirname(scenario.file), replayOptions.file));
    return { type: "ready", response: replayRecording(recording, replayOptions.speed, clock) };
  }
  const random = createSeededRandom(scenario.seed, request.turn, scenario.turns.indexOf(turn));
  const faults = pickFaults(turn.faults, random);
  return {
    type: "steps",
    steps: generateScriptSteps(turn.answer, { scenario, request, random }),
    faults,
  };
}

function readPlayedCount(note: JsonValue): number {
  const played = isObject(note) ? note["played"] : undefined;
  return typeof played === "number" ? played : 0;
}

function matchesCondition(
  { prompt, pattern, result }: Condition,
  messages: readonly Message[],
): boolean {
  const newest = messages.at(-1);
  const text = joinTexts(newest);
  if (prompt !== null && !text.toLowerCase().includes(prompt.toLowerCase())) return false;
  if (pattern !== null && !pattern.test(text)) return false;
  return result === null || hasResult(result, newest, messages.at(-2));
}

function hasResult(
  { tool, status, text }: ResultCondition,
  newest: Message | undefined,
  previous: Message | undefined,
): boolean {
  const names = new Map(readToolUses(previous).map(({ toolUseId, name }) => [toolUseId, name]));
  return readToolResults(newest).some(
    (result) =>
      (tool === null || names.get(result.toolUseId) === tool) &&
      (status === null || (result.status ?? "success") === status) &&
      (text === null || JSON.stringify(result.content).includes(text)),
  );
}

function refuseWithoutTurn(scenario: Scenario, { messages }: BrainRequest): ScriptTurn {
  const prompt = joinTexts(messages.at(-1)).slice(0, 60);
  const message = `${scenario.file} has no turn left for "${prompt}". Fix: add a turn, or set "repeat: true"`;
  throw new ServiceError(424, "RuntimeClientError", message);
}
