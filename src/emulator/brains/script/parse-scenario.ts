import { parse, YAMLParseError } from "yaml";
import { SpanlineError } from "../../../domain/errors.ts";
import { FINAL_STATUSES } from "../../../http/routing/response-limits.ts";
import { parseFaults } from "./parse-faults.ts";
import { parseItem } from "./parse-item.ts";
import { ScenarioNode } from "./scenario-node.ts";
import type { Condition, Pace, ScriptRefusal, Scenario, ScriptTurn } from "./scenario.ts";

/** Parses a scenario from YAML or JSON. An error names the file, the path and the expected value. */
export function parseScenario(file: string, text: string): Scenario {
  const root = new ScenarioNode(file, parseYaml(file, text));
  root.readObject(["seed", "chunk", "delay", "repeat", "turns"]);
  return {
    file,
    seed: parseSeed(root.member("seed")),
    pace: { chunk: DEFAULT_CHUNK, delay: 0, ...parsePace(root) },
    repeat: root.member("repeat").readFlag(),
    turns: root.member("turns").readList().map(parseTurn),
  };
}

const DEFAULT_CHUNK = 8;

function parseSeed(node: ScenarioNode): string | number {
  const { value } = node;
  if (typeof value === "string" || typeof value === "number") return value;
  return node.isPresent ? node.refuse("a number or a string") : 0;
}

function parseYaml(file: string, text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 100 });
  } catch (cause) {
    if (!(cause instanceof YAMLParseError || cause instanceof ReferenceError)) throw cause;
    const message = `${file}: cannot be read as YAML: ${cause.message}`;
    throw new SpanlineError("invalid_option", message, { cause });
  }
}

function parsePace(node: ScenarioNode): Partial<Pace> {
  const chunk = node.member("chunk");
  const delay = node.member("delay");
  return {
    ...(chunk.isPresent ? { chunk: chunk.readAmount() } : {}),
    ...(delay.isPresent ? { delay: delay.readAmount() } : {}),
  };
}

function parseTurn(node: ScenarioNode): ScriptTurn {
  node.readObject(["when", "answer", "faults", "refuse", "replay"]);
  const kinds = ["answer", "refuse", "replay"].filter((name) => node.member(name).isPresent);
  if (kinds.length !== 1) node.refuse('exactly one of "answer", "refuse" and "replay"');
  const faults = node.member("faults");
  if (faults.isPresent && kinds[0] !== "answer")
    faults.refuse('no faults: they are only for an "answer"');
  const when = node.member("when");
  const answer = node.member("answer");
  const refuse = node.member("refuse");
  const replay = node.member("replay");
  return {
    when: when.isPresent ? parseCondition(when) : null,
    answer: answer.isPresent ? parseAnswer(answer) : [],
    faults: parseFaults(faults),
    refuse: refuse.isPresent ? parseRefusal(refuse) : null,
    replay: replay.isPresent ? parseReplay(replay) : null,
  };
}

/** A plain string is short for a response with this text. */
function parseAnswer(node: ScenarioNode): ScriptTurn["answer"] {
  if (typeof node.value === "string") return [{ type: "text", text: node.value, pace: {} }];
  return node.readList().map(parseItem);
}

/** A plain string is short for `prompt`. */
function parseCondition(node: ScenarioNode): Condition {
  if (typeof node.value === "string") return { prompt: node.value, pattern: null, result: null };
  node.readObject(["prompt", "pattern", "result"]);
  const result = node.member("result");
  const pattern = node.member("pattern");
  return {
    prompt: node.member("prompt").readOptionalText() ?? null,
    pattern: pattern.isPresent ? parsePattern(pattern) : null,
    result: result.isPresent ? parseResultCondition(result) : null,
  };
}

function parsePattern(node: ScenarioNode): RegExp {
  try {
    return new RegExp(node.readText(), "iu");
  } catch (error) {
    return node.refuse(`a regular expression (${error instanceof Error ? error.message : ""})`);
  }
}

/** A plain string is short for the name of the tool. */
function parseResultCondition(node: ScenarioNode): NonNullable<Condition["result"]> {
  if (typeof node.value === "string") return { tool: node.value, status: null, text: null };
  node.readObject(["tool", "status", "text"]);
  const status = node.member("status");
  return {
    tool: node.member("tool").readOptionalText() ?? null,
    status: status.isPresent ? status.readChoice(["success", "error"]) : null,
    text: node.member("text").readOptionalText() ?? null,
  };
}

/** The HTTP status of each error of the service. */
const ERROR_STATUSES: ReadonlyMap<string, number> = new Map([
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

function parseRefusal(node: ScenarioNode): ScriptRefusal {
  node.readObject(["status", "type", "message", "members"]);
  const type = node.member("type");
  const name = type.isPresent ? type.readHeaderText() : "";
  const status = node.member("status");
  return {
    type: name,
    status: status.isPresent
      ? status.readWholeNumber(FINAL_STATUSES)
      : (ERROR_STATUSES.get(name) ??
        type.refuse(`a status, or one of ${[...ERROR_STATUSES.keys()].join(", ")}`)),
    message: node.member("message").readOptionalText() ?? "The script refuses this",
    members: node.member("members").readMembers(),
  };
}

/** A plain string is short for `file`. */
function parseReplay(node: ScenarioNode): NonNullable<ScriptTurn["replay"]> {
  if (typeof node.value === "string") return { file: node.value, speed: "full" };
  node.readObject(["file", "speed"]);
  const speed = node.member("speed");
  return {
    file: node.member("file").readText(),
    speed: speed.isPresent ? speed.readChoice(["recorded", "full"]) : "full",
  };
}
