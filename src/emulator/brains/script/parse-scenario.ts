import { parse, YAMLParseError } from "yaml";
import { SpanlineError } from "../../../domain/errors.ts";
import { FINAL_STATUSES } from "../../../http/answer-limits.ts";
import { parseFaults } from "./parse-faults.ts";
import { parseItem } from "./parse-item.ts";
import { Spot } from "./reader.ts";
import type { Condition, Pace, Refusal, Scenario, ScriptTurn } from "./scenario.ts";

/** Reads a scenario from YAML, of which JSON is a part. What is wrong is said with the file, the path and what was wanted. */
export function parseScenario(file: string, text: string): Scenario {
  const root = new Spot(file, yamlValue(file, text));
  root.object(["seed", "chunk", "delay", "repeat", "turns"]);
  return {
    file,
    seed: parseSeed(root.at("seed")),
    pace: { chunk: DEFAULT_CHUNK, delay: 0, ...parsePace(root) },
    repeat: root.at("repeat").isOn(),
    turns: root.at("turns").list().map(parseTurn),
  };
}

const DEFAULT_CHUNK = 8;

function parseSeed(spot: Spot): string | number {
  const { value } = spot;
  if (typeof value === "string" || typeof value === "number") return value;
  return spot.isGiven ? spot.refuse("a number or text") : 0;
}

function yamlValue(file: string, text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 100 });
  } catch (cause) {
    if (!(cause instanceof YAMLParseError || cause instanceof ReferenceError)) throw cause;
    const message = `${file}: cannot be read as YAML: ${cause.message}`;
    throw new SpanlineError("invalid_option", message, { cause });
  }
}

function parsePace(spot: Spot): Partial<Pace> {
  const chunk = spot.at("chunk");
  const delay = spot.at("delay");
  return {
    ...(chunk.isGiven ? { chunk: chunk.amount() } : {}),
    ...(delay.isGiven ? { delay: delay.amount() } : {}),
  };
}

function parseTurn(spot: Spot): ScriptTurn {
  spot.object(["when", "answer", "faults", "refuse", "replay"]);
  const kinds = ["answer", "refuse", "replay"].filter((name) => spot.at(name).isGiven);
  if (kinds.length !== 1) spot.refuse('exactly one of "answer", "refuse" and "replay"');
  const faults = spot.at("faults");
  if (faults.isGiven && kinds[0] !== "answer") faults.refuse('nothing: faults are for an "answer"');
  const when = spot.at("when");
  const answer = spot.at("answer");
  const refuse = spot.at("refuse");
  const replay = spot.at("replay");
  return {
    when: when.isGiven ? parseCondition(when) : null,
    answer: answer.isGiven ? parseAnswer(answer) : [],
    faults: parseFaults(faults),
    refuse: refuse.isGiven ? parseRefusal(refuse) : null,
    replay: replay.isGiven ? parseReplay(replay) : null,
  };
}

/** Text alone is the short form of an answer of that text. */
function parseAnswer(spot: Spot): ScriptTurn["answer"] {
  if (typeof spot.value === "string") return [{ type: "text", text: spot.value, pace: {} }];
  return spot.list().map(parseItem);
}

/** Text alone is the short form of `prompt`. */
function parseCondition(spot: Spot): Condition {
  if (typeof spot.value === "string") return { prompt: spot.value, pattern: null, result: null };
  spot.object(["prompt", "pattern", "result"]);
  const result = spot.at("result");
  const pattern = spot.at("pattern");
  return {
    prompt: spot.at("prompt").optionalText() ?? null,
    pattern: pattern.isGiven ? parsePattern(pattern) : null,
    result: result.isGiven ? parseResultCondition(result) : null,
  };
}

function parsePattern(spot: Spot): RegExp {
  try {
    return new RegExp(spot.text(), "iu");
  } catch (error) {
    return spot.refuse(`a regular expression (${error instanceof Error ? error.message : ""})`);
  }
}

/** Text alone is the short form of the tool's name. */
function parseResultCondition(spot: Spot): NonNullable<Condition["result"]> {
  if (typeof spot.value === "string") return { tool: spot.value, status: null, text: null };
  spot.object(["tool", "status", "text"]);
  const status = spot.at("status");
  return {
    tool: spot.at("tool").optionalText() ?? null,
    status: status.isGiven ? status.oneOf(["success", "error"]) : null,
    text: spot.at("text").optionalText() ?? null,
  };
}

/** HTTP status of each error that the service has. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ["ValidationException", 400],
  ["UnauthorizedException", 401],
  ["ServiceQuotaExceededException", 402],
  ["AccessDeniedException", 403],
  ["ResourceNotFoundException", 404],
  ["ConflictException", 409],
  ["RetryableConflictException", 409],
  ["RuntimeClientError", 424],
  ["ThrottlingException", 429],
  ["InternalServerException", 500],
]);

function parseRefusal(spot: Spot): Refusal {
  spot.object(["status", "type", "message", "members"]);
  const type = spot.at("type");
  const name = type.isGiven ? type.headerText() : "";
  const status = spot.at("status");
  return {
    type: name,
    status: status.isGiven
      ? status.wholeNumber(FINAL_STATUSES)
      : (STATUSES.get(name) ??
        type.refuse(`a status, or one of ${[...STATUSES.keys()].join(", ")}`)),
    message: spot.at("message").optionalText() ?? "The script refuses this",
    members: spot.at("members").members(),
  };
}

/** Text alone is the short form of `file`. */
function parseReplay(spot: Spot): NonNullable<ScriptTurn["replay"]> {
  if (typeof spot.value === "string") return { file: spot.value, speed: "full" };
  spot.object(["file", "speed"]);
  const speed = spot.at("speed");
  return {
    file: spot.at("file").text(),
    speed: speed.isGiven ? speed.oneOf(["recorded", "full"]) : "full",
  };
}
