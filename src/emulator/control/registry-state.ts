import { isObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { readConfiguration } from "./configuration.ts";
import { Fields } from "./fields.ts";
import type {
  Change,
  EndpointMove,
  Harness,
  HarnessEndpoint,
  HarnessVersion,
  Tags,
} from "./harness-state.ts";
import type { UsedToken } from "./used-tokens.ts";

/** All that the control plane remembers. */
export interface RegistryState {
  readonly harnesses: readonly Harness[];
  readonly tokens: readonly UsedToken[];
}

export const EMPTY_REGISTRY: RegistryState = { harnesses: [], tokens: [] };

const FORMAT = 1;

export function writeState({ harnesses, tokens }: RegistryState): string {
  return `${JSON.stringify({ format: FORMAT, harnesses, tokens }, null, 1)}\n`;
}

/** Throws an Error that names the place where the text is not what `writeState` writes. */
export function parseState(text: string): RegistryState {
  // What was let in one by one may be deep and much; it was ours to refuse then.
  const root = objectAt(JSON.parse(text), "the file");
  if (root["format"] !== FORMAT) {
    throw new Error(`its format is ${JSON.stringify(root["format"])}, wanted ${FORMAT}`);
  }
  return {
    harnesses: listAt(root["harnesses"], "harnesses").map(parseHarness),
    tokens: listAt(root["tokens"], "tokens").map(parseToken),
  };
}

function parseHarness(value: JsonValue): Harness {
  const at = objectAt(value, "a harness");
  const [first, ...more] = listAt(at["versions"], "versions").map(parseVersion);
  if (first === undefined) throw new Error("versions is empty");
  return {
    id: textAt(at["id"], "id"),
    name: textAt(at["name"], "name"),
    createdAt: numberAt(at["createdAt"], "createdAt"),
    visibleAt: numberAt(at["visibleAt"], "visibleAt"),
    tags: tagsAt(at["tags"]),
    versions: [first, ...more],
    endpoints: listAt(at["endpoints"], "endpoints").map(parseEndpoint),
    ...(at["deletion"] !== undefined && { deletion: parseChange(at["deletion"]) }),
  };
}

function parseVersion(value: JsonValue): HarnessVersion {
  const at = objectAt(value, "a version");
  const fields = new Fields(objectAt(at["configuration"], "configuration"));
  const configuration = readConfiguration(fields);
  fields.finish();
  return {
    number: numberAt(at["number"], "number"),
    configuration,
    change: parseChange(at["change"]),
  };
}

function parseEndpoint(value: JsonValue): HarnessEndpoint {
  const at = objectAt(value, "an endpoint");
  return {
    name: textAt(at["name"], "name"),
    createdAt: numberAt(at["createdAt"], "createdAt"),
    visibleAt: numberAt(at["visibleAt"], "visibleAt"),
    ...(at["description"] !== undefined && {
      description: textAt(at["description"], "description"),
    }),
    tags: tagsAt(at["tags"]),
    moves: listAt(at["moves"], "moves").map(parseMove),
    ...(at["deletion"] !== undefined && { deletion: parseChange(at["deletion"]) }),
  };
}

function parseMove(value: JsonValue): EndpointMove {
  const at = objectAt(value, "a move");
  return { version: numberAt(at["version"], "version"), change: parseChange(at["change"]) };
}

function parseChange(value: JsonValue | undefined): Change {
  const at = objectAt(value, "a change");
  const outcome = objectAt(at["outcome"], "outcome");
  const reason = outcome["failureReason"];
  return {
    startedAt: numberAt(at["startedAt"], "startedAt"),
    dueAt: numberAt(at["dueAt"], "dueAt"),
    outcome: {
      status: textAt(outcome["status"], "status"),
      ...(reason !== undefined && { failureReason: textAt(reason, "failureReason") }),
    },
  };
}

function parseToken(value: JsonValue): UsedToken {
  const at = objectAt(value, "a token");
  return {
    operation: textAt(at["operation"], "operation"),
    token: textAt(at["token"], "token"),
    fingerprint: textAt(at["fingerprint"], "fingerprint"),
    harnessId: textAt(at["harnessId"], "harnessId"),
    usedAt: numberAt(at["usedAt"], "usedAt"),
  };
}

function tagsAt(value: JsonValue | undefined): Tags {
  const tags = Object.entries(objectAt(value, "tags"));
  return Object.fromEntries(tags.map(([name, text]) => [name, textAt(text, `tags.${name}`)]));
}

function objectAt(value: JsonValue | undefined, name: string): JsonObject {
  if (!isObject(value)) throw new Error(`${name} is no object`);
  return value;
}

function listAt(value: JsonValue | undefined, name: string): readonly JsonValue[] {
  if (!Array.isArray(value)) throw new Error(`${name} is no list`);
  return value;
}

function textAt(value: JsonValue | undefined, name: string): string {
  if (typeof value !== "string") throw new Error(`${name} is no text`);
  return value;
}

function numberAt(value: JsonValue | undefined, name: string): number {
  if (typeof value !== "number") throw new Error(`${name} is no number`);
  return value;
}
